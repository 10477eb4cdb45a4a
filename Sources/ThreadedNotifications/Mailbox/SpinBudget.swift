/// The time that a thread may watch for more before it sleeps: a pure value.
///
/// Watching costs processor time; a find saves the cost of sleeping and waking. Watching may spend what finds have
/// saved, and a little for each time that the thread was woken, to learn whether that has changed.
///
///     found: + saved − spent        found nothing: − spent        woken: + a little
///
/// Over any period, the time spent is at most `atFirst`, the sum that finds saved, and `forBeingWoken` for each
/// wake-up. After a look that found nothing, the next one waits for the credit of a whole look, because a shorter one
/// could end just before an entry arrives.
struct SpinBudget: Hashable {
    /// The longest look, in nanoseconds: about the time of a wake-up and an answer.
    static let longest = 100_000
    /// A shorter look is not worth beginning.
    static let shortest = 2_000
    /// The processor time of two threads, in nanoseconds, that a sleep and a wake-up cost.
    static let saved = 10_000
    /// A twentieth of `saved`.
    static let forBeingWoken = 500
    static let atFirst = longest
    /// The credit's maximum, so that savings of long ago are not spent now.
    static let most = 10 * longest

    private(set) var credit = atFirst
    private var hasFound = true

    /// The longest look now; nil: none.
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
