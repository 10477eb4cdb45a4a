/// How long a thread may look for more before it sleeps: a pure value.
///
/// To look costs processor time, and to find something saves what it costs to sleep, to be woken and to wake. So what looking may spend is
/// what it has saved, and a little for each time that the thread was woken, to find out whether that has changed.
///
///     found: + saved − spent        found nothing: − spent        woken: + a little
///
/// Over any time, what was spent is at most `atFirst`, what finding has saved, and `forBeingWoken` for each time that the thread was woken.
/// After a look in vain there is another when there is credit for a whole one, because a shorter one might miss by a little what comes.
struct SpinBudget: Hashable {
    /// How long a look may last, in nanoseconds: as long as it takes to wake another thread and to hear from it.
    static let longest = 100_000
    /// What is shorter is none.
    static let shortest = 2_000
    /// What it costs two threads, in nanoseconds of processor time, that one sleeps and the other wakes it.
    static let saved = 10_000
    /// A twentieth of that.
    static let forBeingWoken = 500
    static let atFirst = longest
    /// What was saved long ago is not spent now.
    static let most = 10 * longest

    private(set) var credit = atFirst
    private var hasFound = true

    /// How long a look may last; nil: there may be none.
    var limit: Int? {
        guard credit >= (hasFound ? Self.shortest : Self.longest) else { return nil }
        return min(credit, Self.longest)
    }

    mutating func found(after spent: Int) {
        credit = min(credit - spent + Self.saved, Self.most)
        hasFound = true
    }

    mutating func foundNothing(after spent: Int) {
        credit -= spent
        hasFound = false
    }

    /// The thread slept, and was woken.
    mutating func woken() {
        credit = min(credit + Self.forBeingWoken, Self.most)
    }
}
