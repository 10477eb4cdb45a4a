/// The reason why a scenario was not completed.
package enum ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A wait took too long.
    case timedOut(waitingFor: String, after: Duration)
    /// The scenario was called on another thread than the main thread.
    case notOnMainThread
    /// The scenario needs a second process, and the environment has no program to start.
    case noChildProgram
    /// The value of an option is out of range.
    case optionOutOfRange(option: String, value: String, range: String)
    /// The second process could not be started, or its records could not be read.
    case child(problem: String)

    package var description: String {
        switch self {
        case .timedOut(let name, let timeout):
            "timed out after \(timeout) while waiting for \(name). If the machine is very busy, try again."
        case .notOnMainThread:
            "a scenario must be performed on the main thread."
        case .noChildProgram:
            "this scenario needs a second process: set childProgram and distributedChild of its environment."
        case .optionOutOfRange(let option, let value, let range):
            "\(option) is \(value); it must be from \(range)."
        case .child(let problem):
            "the second process: \(problem)"
        }
    }
}
