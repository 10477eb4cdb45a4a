/// Finds out whether entries arrive faster than the thread takes them. During a burst it is better to let entries
/// gather than to take each one as it comes.
///
/// Threads: the mailbox's own; it is part of `DrainState`.
struct BurstDetector {
    /// The number of drains with a single entry that end the burst.
    static let singleDrains = 16

    private var singleDrainsLeft = 0

    var isBurst: Bool { singleDrainsLeft > 0 }

    /// Notes the size of a drain.
    mutating func drained(moreThanOne: Bool) {
        singleDrainsLeft = moreThanOne ? Self.singleDrains : max(0, singleDrainsLeft - 1)
    }
}
