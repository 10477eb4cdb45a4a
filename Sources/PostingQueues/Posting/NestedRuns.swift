/// Decides which runs of a run loop return because a notification was posted in them, where runs are nested. A pure
/// value.
///
/// A run returns when it is signalled. A nested run must not return because of a post in the run around it, so the
/// signal of that run is withdrawn while the nested run lasts, and repeated afterwards.
struct NestedRuns<Mode: Equatable> {
    /// True if the innermost run has to return and is not signalled yet.
    private var needsSignal = false
    /// The runs that were observed to begin, the outermost first, and whether the run around each has to return.
    private var runs: [(mode: Mode, outerNeedsSignal: Bool)] = []

    /// A run begins. The caller withdraws the signal.
    /// - Parameter isSignalled: whether the run around it is signalled.
    mutating func begin(in mode: Mode, isSignalled: Bool) {
        runs.append((mode, needsSignal || isSignalled))
        needsSignal = false
    }

    /// The innermost run ends. The caller withdraws the signal if the run's beginning was observed.
    mutating func end(in mode: Mode) -> (wasObserved: Bool, mayBeNested: Bool) {
        // The run may have begun before its mode was observed.
        guard let last = runs.last, last.mode == mode else { return (false, true) }
        runs.removeLast()
        needsSignal = last.outerNeedsSignal
        return (true, !runs.isEmpty)
    }

    /// A notification was posted in the innermost run.
    mutating func notePost() {
        needsSignal = true
    }

    /// - Returns: whether the caller has to signal the innermost run now.
    mutating func takeSignal() -> Bool {
        defer { needsSignal = false }
        return needsSignal
    }
}
