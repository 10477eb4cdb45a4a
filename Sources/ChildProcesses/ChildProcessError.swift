/// The reason why a child process could not be used.
package enum ChildProcessError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The program could not be started.
    case cannotRun(String, problem: String)
    /// The child does not read its input any more.
    case hasEnded
    /// The child wrote no line.
    case timedOut(after: Duration)

    package var description: String {
        switch self {
        case .cannotRun(let program, let problem): "cannot run \(program): \(problem)"
        case .hasEnded: "the child process ended before it had read its input"
        case .timedOut(let timeout): "the child process wrote no line within \(timeout)"
        }
    }
}
