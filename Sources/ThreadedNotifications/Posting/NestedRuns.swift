/// Which runs of the run loop are to return because something was posted in them, one run nested in another.
///
/// What was signalled for the outer run is withdrawn while a nested one is under way, and signalled again when that has ended.
struct RunLoopReturns {
    private let signalled = RunLoopReturn()
    /// Whether the run under way is to return, and is not signalled.
    private var isOwed = false
    /// The runs under way that were seen to begin, the outermost first: in which mode, and whether the one around it is to return.
    private var runs: [(mode: RunningMode, isOuterOwed: Bool)] = []

    mutating func runBegins() {
        runs.append((.current, isOwed || signalled.isSignalled))
        signalled.withdraw()
        isOwed = false
    }

    /// - Returns: whether it may have been nested in another.
    mutating func runEnds() -> Bool {
        // It began before anybody watched this mode.
        guard let last = runs.last, last.mode == .current else { return true }
        runs.removeLast()
        signalled.withdraw()
        isOwed = last.isOuterOwed
        return !runs.isEmpty
    }

    /// Something was posted in the run under way.
    mutating func posted() {
        isOwed = true
    }

    /// - Returns: whether the run is to return, and was signalled just now.
    @discardableResult
    mutating func signalIfOwed() -> Bool {
        guard isOwed else { return false }
        isOwed = false
        signalled.signal()
        return true
    }
}
