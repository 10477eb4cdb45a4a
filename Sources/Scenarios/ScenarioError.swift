internal import ChildProcesses

/// The reason why a scenario was not completed.
package enum ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    case timedOut(waitingFor: String, after: Duration)
    case notOnMainThread
    case noProgram
    case optionOutOfRange(option: String, value: String, range: String)
    /// The second process could not be started, or its records could not be read.
    case child(problem: String)
    case recording(problem: String)

    init(_ error: ChildProcessError) {
        self =
            switch error {
            case .timedOut(let timeout): .timedOut(waitingFor: "the second process", after: timeout)
            case .hasEnded: .child(problem: "ended before it had finished a command")
            case .cannotRun: .child(problem: error.description)
            }
    }

    package var description: String {
        switch self {
        case .timedOut(let name, let timeout):
            "timed out after \(timeout) while waiting for \(name). If the machine is very busy, try again."
        case .notOnMainThread:
            "a scenario must be performed on the main thread."
        case .noProgram:
            "this scenario needs a second process: set the program of its environment."
        case .optionOutOfRange(let option, let value, let range):
            "\(option) is \(value); it must be from \(range)."
        case .child(let problem):
            "the second process: \(problem)"
        case .recording(let problem):
            "the scenario cannot be recorded to a temporary file: \(problem). Make room there, or set TMPDIR to another "
                + "directory."
        }
    }
}
