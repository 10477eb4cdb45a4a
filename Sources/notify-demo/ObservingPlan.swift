/// When an observing command suspends delivery, resumes it and ends. A value: it is told what happened, and says what
/// to do.
struct ObservingPlan {
    enum Action: Hashable {
        case suspend
        case resume
        case end(ExitStatus)
        /// Nothing before so much time has passed; nil: until something comes.
        case wait(until: Duration?)
    }

    /// How many notifications to wait for.
    var count: Int?
    var timeout: Duration?
    /// Both since the observer was registered.
    var suspendAt: Duration?
    var resumeAt: Duration?

    private var came = 0

    /// - Parameter resumeAfter: how long delivery is suspended.
    init(count: Int? = nil, timeout: Duration? = nil, suspendAfter: Duration? = nil, resumeAfter: Duration? = nil) {
        self.count = count
        self.timeout = timeout
        suspendAt = suspendAfter
        if let suspendAfter, let resumeAfter { resumeAt = suspendAfter + resumeAfter }
    }

    var isComplete: Bool { count.map { came >= $0 } ?? false }

    mutating func notificationCame() {
        came += 1
    }

    /// What to do now. What is to be done is said once.
    /// - Parameter elapsed: the time since the observer was registered.
    mutating func action(at elapsed: Duration) -> Action {
        if isComplete { return .end(.success) }
        // Earlier ones first, however late they are asked for: what is suspended is resumed before the end.
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
