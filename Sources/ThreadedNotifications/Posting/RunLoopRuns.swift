/// The runs of a run loop, one nested in another, as a pure value.
///
/// A nested run may use up what woke the outer one, such as that its time is over or that a source was signalled; so before the outer one
/// waits again it is sent round once, to look at the clock.
struct RunLoopRuns {
    /// Whether something was posted in each run, the innermost last.
    private var hasPosted: [Bool] = []
    private var hasNested = false

    mutating func begin() {
        hasPosted.append(false)
    }

    mutating func didPost() {
        if !hasPosted.isEmpty { hasPosted[hasPosted.count - 1] = true }
    }

    /// - Returns: whether something was posted in the run that ends; false also if it began before anybody watched.
    mutating func end() -> Bool {
        let last = hasPosted.popLast()
        if !hasPosted.isEmpty { hasNested = true }
        return last ?? false
    }

    /// - Returns: whether a run was nested in the one that would wait, since that last asked.
    mutating func takeNested() -> Bool {
        defer { hasNested = false }
        return hasNested
    }
}
