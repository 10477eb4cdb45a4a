/// Notices when a run of the run loop was nested in another, as a pure value.
///
/// A nested run may use up what woke the outer one, such as that its time is over or that a source was signalled; so before the outer one
/// waits again it is sent round once, to look at the clock.
struct RunLoopRuns {
    private var depth = 0
    private var hasNested = false

    mutating func begin() {
        depth += 1
    }

    mutating func end() {
        // The first may have begun before anybody watched.
        depth = max(0, depth - 1)
        if depth > 0 { hasNested = true }
    }

    /// - Returns: whether a run was nested in the one that would wait, since that last asked.
    mutating func takeNested() -> Bool {
        defer { hasNested = false }
        return hasNested
    }
}
