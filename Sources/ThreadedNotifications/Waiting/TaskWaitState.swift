/// A wait of a task: a pure value.
///
///     begun ──suspend──► suspended ──end: resume──► ended
///       └──────end──────────────────────────────────► ended ──suspend: resume at once
enum TaskWaitState<Outcome, Continuation> {
    case begun
    case suspended(Continuation)
    case ended(Outcome)

    init() { self = .begun }

    /// The task waits. It is called once.
    /// - Returns: the outcome, if the wait has ended; then the continuation is not kept.
    mutating func suspend(_ continuation: Continuation) -> Outcome? {
        if case .ended(let outcome) = self { return outcome }
        self = .suspended(continuation)
        return nil
    }

    /// - Returns: the continuation to resume with this outcome; nil if there is none, or if the wait ended before.
    mutating func end(_ outcome: Outcome) -> Continuation? {
        switch self {
        case .begun:
            self = .ended(outcome)
            return nil
        case .suspended(let continuation):
            self = .ended(outcome)
            return continuation
        case .ended: return nil
        }
    }
}
