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
    var count: Int?
    var timeout: Duration?
    /// Times since the observer was registered.
    var suspendAt: Duration?
    var resumeAt: Duration?

    private var received = 0

    /// - Parameter resumeAfter: how long delivery is suspended.
    init(count: Int? = nil, timeout: Duration? = nil, suspendAfter: Duration? = nil, resumeAfter: Duration? = nil) {
        self.count = count
        self.timeout = timeout
        suspendAt = suspendAfter
        if let suspendAfter, let resumeAfter { resumeAt = suspendAfter + resumeAfter }
    }

    var isComplete: Bool { count.map { received >= $0 } ?? false }

    mutating func countNotification() { received += 1 }

    /// The next action. Each suspension and resumption is returned once.
    ///
    /// - Parameter elapsed: the time since the observer was registered.
    mutating func action(at elapsed: Duration) -> Action {
        if isComplete { return .end(.success) }
        // A late call returns the due actions in order, so that delivery is resumed before the end.
        if let suspendAt, elapsed >= suspendAt, suspendAt <= timeout ?? suspendAt {
            self.suspendAt = nil
            return .suspend
        }
        if let resumeAt, elapsed >= resumeAt, resumeAt <= timeout ?? resumeAt {
            self.resumeAt = nil
            return .resume
        }
        if let timeout, elapsed >= timeout { return .end(count == nil ? .success : .failed) }
        return .wait(until: [suspendAt, resumeAt, timeout].compactMap(\.self).min())
    }
}
