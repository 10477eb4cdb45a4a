/// Why a scenario did not come to its end.
public enum ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Something did not happen in time.
    case timedOut(waitingFor: String, after: Duration)
    /// It is about the main thread, and was called on another.
    case notOnMainThread
    /// It needs a second process, and was not told how to start one.
    case noChildProgram
    /// An option has a value that it cannot have.
    case optionOutOfRange(option: String, value: String, range: String)
    /// The second process could not be started, or its records could not be read.
    case child(problem: String)

    public var description: String {
        switch self {
        case .timedOut(let what, let limit):
            "waited \(limit) for \(what), and it did not happen. If the machine is very busy, try again."
        case .notOnMainThread:
            "a scenario is about the main thread: perform it there."
        case .noChildProgram:
            "this scenario needs a second process: give the environment a childProgram and a distributedChild."
        case .optionOutOfRange(let option, let value, let range):
            "\(option) is \(value), and must be from \(range)."
        case .child(let problem):
            "the second process: \(problem)"
        }
    }
}
