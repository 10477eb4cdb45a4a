internal import Foundation

/// The sets of run loop modes that the posting queues of one thread are used with, and what its run loop has of them: observers
/// in all of these modes; for each set an observer that marks its modes; and a source, while what waits in it is to keep a
/// run loop that has nothing else from returning.
///
/// It is to, but not the run whose own other input enqueued it, such as a timer: that run returns when its input has expired, as
/// the document says, and what waits still keeps the next.
///
/// Its owner's lock is held for every call. CoreFoundation is called under it, and calls nothing back.
struct PostingLanes {
    struct Lane {
        var modes: Set<RunLoop.Mode>
        /// Tells whether the run loop runs in one of the modes: which are common only CoreFoundation knows.
        var marker: RunLoopObserver
        var source: RunLoopSource
        /// Whether what waits keeps a run loop from returning.
        var keeps = false
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
    /// - Parameter isPosting: whether what was posted enqueues it.
    mutating func willWait(in lane: Int, isPosting: Bool) {
        if lanes[lane].keeps { return }
        lanes[lane].keeps = isPosting || runLoop.map { !lanes[lane].marker.isInRun(of: $0) } ?? true
    }

    /// A run ends in the mode that the run loop is in.
    mutating func runEnds() {
        guard let runLoop else { return }
        for lane in lanes.indices where lanes[lane].marker.isInRun(of: runLoop) { lanes[lane].keeps = true }
    }

    /// Whether something waits in each lane may have changed.
    mutating func update(isEmpty: (_ lane: Int) -> Bool) {
        for lane in lanes.indices {
            if isEmpty(lane) { lanes[lane].keeps = false }
            guard lanes[lane].hasSource != lanes[lane].keeps else { continue }
            lanes[lane].hasSource = lanes[lane].keeps
            if lanes[lane].keeps { addSource(lanes[lane]) } else { removeSource(lanes[lane]) }
        }
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
