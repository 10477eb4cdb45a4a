/// The reason why a scenario was not completed.
package enum ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    case timedOut(waitingFor: String, after: Duration)
    case recording(problem: String)
    case machines(problem: String)

    package var description: String {
        switch self {
        case .timedOut(let name, let timeout):
            "timed out after \(timeout) while waiting for \(name). If the machine is very busy, try again."
        case .machines(let problem): problem
        case .recording(let problem):
            "the scenario cannot be recorded to a temporary file: \(problem). Make room there, or set TMPDIR to another "
                + "directory."
        }
    }
}
