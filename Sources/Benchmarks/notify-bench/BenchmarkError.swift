/// The reason that a measurement has no figure, or that runs cannot be compared.
package enum BenchmarkError: Error, Hashable, CustomStringConvertible {
    case timedOut(waitingFor: String, after: Duration)
    /// Some notifications were not handled, or were handled more than once.
    case miscounted(handled: Int, posted: Int)
    /// A round's figure is not a number, is negative, or counts another number of operations.
    case noFigure(String)
    /// A file cannot be read.
    case unreadable(String, String)
    /// A file is no report of `notify-bench --json`, for this reason.
    case noReport(String, String)
    /// The system could not create a resource; `code` is its `errno`.
    case notMade(String, code: Int32)

    package var description: String {
        switch self {
        case .timedOut(let what, let timeout):
            "waited \(timeout) for \(what), and it did not happen. If the machine is very busy, try again."
        case .miscounted(let handled, let posted):
            "\(posted) were posted and \(handled) handled."
        case .noFigure(let figure):
            "a round's figure is \(figure)."
        case .unreadable(let path, let problem):
            "cannot read \(path): \(problem)"
        case .noReport(let path, let reason):
            "cannot compare with \(path): it is no report of 'notify-bench --json': \(reason)."
        case .notMade(let what, let code):
            "the system did not make \(what) (error \(code)). Raise the limits of threads, descriptors or memory."
        }
    }
}
