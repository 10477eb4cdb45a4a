internal import Foundation

/// The sets of run loop modes that the posting queues of one thread are used with, and what its run loop has of them: observers
/// in all of these modes; for each set an observer that marks its modes; and a source, while what waits in it is to keep a
/// run loop that has nothing else from returning.
///
/// It is to, but what is idle not in the run whose own other input enqueued it, such as a timer: that run returns when its input has
/// expired, as the document says, and what waits still keeps the next. What is not idle prolongs no run: it is posted before that waits.
///
/// Its owner's lock is held for every call. CoreFoundation is called under it, and calls nothing back.
struct PostingLanes {
    struct Lane {
        var modes: Set<RunLoop.Mode>
        /// Tells whether the run loop runs in one of the modes: which are common only CoreFoundation knows.
        var marker: RunLoopObserver
        var source: RunLoopSource
        /// Whether what is idle keeps a run loop from returning.
        var keepsIdle = false
        var hasSource = false
    }

    private(set) var lanes: [Lane] = []
    /// One for each depth of handlers that run the run loop, for an observer is not called while it is.
    private(set) var observers: [RunLoopObserver] = []
    private(set) var runLoop: RunLoopReference?

    mutating func attach(to runLoop: RunLoopReference) {
        self.runLoop = runLoop
        for lane in lanes { add(lane.marker, lane) }
        for observer in observers { add(observer) }
        for index in lanes.indices where lanes[index].hasSource { addSource(lanes[index]) }
    }

    /// The lanes whose modes the current thread's run loop serves now.
    var deliverable: [Int] { lanes.indices.filter { lanes[$0].marker.isInCurrentMode } }

    func number(of modes: Set<RunLoop.Mode>) -> Int? { lanes.firstIndex { $0.modes == modes } }

    mutating func addLane(_ modes: Set<RunLoop.Mode>) -> Int {
        let lane = Lane(modes: modes, marker: RunLoopObserver(perform: nil), source: RunLoopSource(perform: {}))
        lanes.append(lane)
        for observer in observers + [lane.marker] { add(observer, lane) }
        return lanes.count - 1
    }

    mutating func addObserver(_ observer: RunLoopObserver) {
        observers.append(observer)
        add(observer)
    }

    /// Removes those for handlers deeper than this.
    mutating func removeObservers(deeperThan depth: Int) {
        while observers.count > depth + 1 { observers.removeLast().invalidate() }
    }

    /// Something waits in a lane from now on.
    /// - Parameter isOwnInput: whether the run loop's thread enqueued it, and not in a handler of what was posted.
    mutating func willWait(in lane: Int, isOwnInput: Bool) {
        if isOwnInput, let runLoop, lanes[lane].marker.isInRun(of: runLoop) { return }
        lanes[lane].keepsIdle = true
    }

    /// A run ends in the mode that the run loop is in.
    mutating func runEnds() {
        guard let runLoop else { return }
        for lane in lanes.indices where lanes[lane].marker.isInRun(of: runLoop) { lanes[lane].keepsIdle = true }
    }

    /// What waits may have changed.
    /// - Returns: whether a lane has no source any more. A run that waits looks for that only when it is woken.
    mutating func update(isWaiting: (_ lane: Int) -> (idle: Bool, due: Bool)) -> Bool {
        var isOneGone = false
        for lane in lanes.indices {
            let (idle, due) = isWaiting(lane)
            if !idle { lanes[lane].keepsIdle = false }
            let keeps = due || lanes[lane].keepsIdle
            guard lanes[lane].hasSource != keeps else { continue }
            lanes[lane].hasSource = keeps
            if keeps { addSource(lanes[lane]) } else { removeSource(lanes[lane]) }
            if !keeps { isOneGone = true }
        }
        return isOneGone
    }

    func invalidate() {
        for lane in lanes {
            lane.marker.invalidate()
            lane.source.invalidate()
        }
        for observer in observers { observer.invalidate() }
    }

    private func add(_ observer: RunLoopObserver) {
        for lane in lanes { add(observer, lane) }
    }

    private func add(_ observer: RunLoopObserver, _ lane: Lane) {
        guard let runLoop else { return }
        for mode in lane.modes { observer.add(to: runLoop, mode: mode) }
    }

    private func removeSource(_ lane: Lane) {
        guard let runLoop else { return }
        for mode in lane.modes { lane.source.remove(from: runLoop, mode: mode) }
    }

    private func addSource(_ lane: Lane) {
        guard let runLoop else { return }
        for mode in lane.modes { lane.source.add(to: runLoop, mode: mode) }
    }
}
