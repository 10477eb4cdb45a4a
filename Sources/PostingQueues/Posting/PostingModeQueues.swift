internal import Foundation
internal import ThreadedNotifications

/// The sets of run loop modes that the posting queues of one thread are used with: a mode queue for each set.
///
/// The run loop gets, in all modes of the sets, the observers that post; in the modes of each set, an observer that
/// only marks them, and a source while notifications of the set keep a run loop from returning that has nothing else to
/// wait for.
///
/// Idle notifications do not prolong a run that its own input woke, such as a timer; the next run posts them. Others
/// prolong no run, because they are posted before the run loop waits.
///
/// The owner holds its lock for every call. CoreFoundation is called with it and calls nothing back.
struct PostingModeQueues {
    struct ModeQueue {
        var modes: Set<RunLoop.Mode>
        /// Tells whether the run loop runs in one of the modes. Only CoreFoundation knows which modes are common.
        var marker: RunLoopObserver
        var source: RunLoopSource
        /// True if idle notifications keep a run loop from returning.
        var idleKeepsRunning = false
        var hasSource = false
    }

    private(set) var modeQueues: [ModeQueue] = []
    /// One for each depth of handlers that run the run loop, because an observer is not called again before it has
    /// returned.
    private(set) var observers: [RunLoopObserver] = []
    private(set) var runLoop: RunLoopReference?

    mutating func attach(to runLoop: RunLoopReference) {
        self.runLoop = runLoop
        for modeQueue in modeQueues { add(modeQueue.marker, to: modeQueue) }
        for observer in observers { addToAll(observer) }
        for modeQueue in modeQueues where modeQueue.hasSource { addSource(of: modeQueue) }
    }

    /// The indexes of the mode queues that the calling thread's run loop serves in its current mode.
    var deliverable: [Int] { modeQueues.indices.filter { modeQueues[$0].marker.isInCurrentMode } }

    var count: Int { modeQueues.count }

    func index(of modes: Set<RunLoop.Mode>) -> Int? { modeQueues.indices.first { modeQueues[$0].modes == modes } }

    /// - Returns: the index of the new mode queue.
    mutating func append(_ modes: Set<RunLoop.Mode>) -> Int {
        let modeQueue = ModeQueue(
            modes: modes, marker: RunLoopObserver(of: []) { _ in }, source: RunLoopSource(perform: {}))
        modeQueues.append(modeQueue)
        for observer in observers + [modeQueue.marker] { add(observer, to: modeQueue) }
        return modeQueues.count - 1
    }

    mutating func addObserver(_ observer: RunLoopObserver) {
        observers.append(observer)
        addToAll(observer)
    }

    mutating func removeObservers(deeperThan depth: Int) {
        while observers.count > depth + 1 { observers.removeLast().invalidate() }
    }

    /// Notes that a notification of a mode queue begins to wait.
    /// - Parameter isOwnInput: whether the run loop's thread enqueued it, and not in a handler of a posted
    ///   notification.
    mutating func noteWaiting(in index: Int, isOwnInput: Bool) {
        if isOwnInput, let runLoop, modeQueues[index].marker.isInRun(of: runLoop) { return }
        modeQueues[index].idleKeepsRunning = true
    }

    /// Notes that a run in the run loop's current mode ends.
    mutating func noteEndOfRun() {
        guard let runLoop else { return }
        for index in modeQueues.indices where modeQueues[index].marker.isInRun(of: runLoop) {
            modeQueues[index].idleKeepsRunning = true
        }
    }

    /// Adds or removes the source of a mode queue after notifications were added or removed.
    /// - Parameters:
    ///   - idle: whether idle notifications wait in the mode queue.
    ///   - due: whether others wait there.
    /// - Returns: whether the source was removed. A run loop that waits notices that only when it is woken.
    mutating func updateSource(of index: Int, idle: Bool, due: Bool) -> Bool {
        if !idle { modeQueues[index].idleKeepsRunning = false }
        let needsSource = due || modeQueues[index].idleKeepsRunning
        guard modeQueues[index].hasSource != needsSource else { return false }
        modeQueues[index].hasSource = needsSource
        if needsSource { addSource(of: modeQueues[index]) } else { removeSource(of: modeQueues[index]) }
        return !needsSource
    }

    func invalidate() {
        for modeQueue in modeQueues {
            modeQueue.marker.invalidate()
            modeQueue.source.invalidate()
        }
        for observer in observers { observer.invalidate() }
    }

    private func addToAll(_ observer: RunLoopObserver) {
        for modeQueue in modeQueues { add(observer, to: modeQueue) }
    }

    private func add(_ observer: RunLoopObserver, to modeQueue: ModeQueue) {
        guard let runLoop else { return }
        for mode in modeQueue.modes { observer.add(to: runLoop, mode: mode) }
    }

    private func removeSource(of modeQueue: ModeQueue) {
        guard let runLoop else { return }
        for mode in modeQueue.modes { modeQueue.source.remove(from: runLoop, mode: mode) }
    }

    private func addSource(of modeQueue: ModeQueue) {
        guard let runLoop else { return }
        for mode in modeQueue.modes { modeQueue.source.add(to: runLoop, mode: mode) }
    }
}
