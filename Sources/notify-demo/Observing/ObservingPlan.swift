/// Decides when an observing command suspends delivery, resumes it and ends.
struct ObservingPlan {
    enum Action: Hashable {
        case suspend
        case resume
        case end(ExitStatus)
        /// Wait until this much time has passed since the registration, or for an event; nil: for an event only.
        case wait(until: Duration?)
    }

    /// The number of notifications to wait for.
    private let count: Int?
    private var received = 0
    /// The coming actions, and their times since the observer was registered.
    private var steps: [(time: Duration, action: Action)]

    /// - Parameter resumeAfter: how long delivery is suspended.
    init(count: Int? = nil, timeout: Duration? = nil, suspendAfter: Duration? = nil, resumeAfter: Duration? = nil) {
        self.count = count
        let resumeAt = suspendAfter.flatMap { begin in resumeAfter.map { begin + $0 } }
        let end = Action.end(count == nil ? .success : .failed)
        steps = [(suspendAfter, Action.suspend), (resumeAt, .resume), (timeout, end)]
            .compactMap { time, action in time.map { ($0, action) } }.sorted { $0.time < $1.time }
    }

    var isComplete: Bool { count.map { received >= $0 } ?? false }

    mutating func countNotification() { received += 1 }

    /// The next action. Each suspension and resumption is returned once. A late call returns the due ones in order.
    ///
    /// - Parameter elapsed: the time since the observer was registered.
    mutating func action(at elapsed: Duration) -> Action {
        if isComplete { return .end(.success) }
        guard let next = steps.first, elapsed >= next.time else { return .wait(until: steps.first?.time) }
        return steps.removeFirst().action
    }
}
