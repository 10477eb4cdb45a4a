/// The reason that a measurement has no figure, or that runs cannot be compared.
package enum BenchmarkError: Error, Hashable, CustomStringConvertible {
    case timedOut(waitingFor: String, after: Duration)
    /// Some notifications were not handled, or were handled more than once.
    case miscounted(handled: Int, posted: Int)
    /// An observer was told that this number of notifications did not reach it.
    case lost(Int)
    /// The process of the observers has ended unexpectedly.
    case observersEnded
    /// A round's figure is not a number, is negative, or counts another number of operations.
    case noFigure(String)
    /// A file cannot be read.
    case unreadable(String, String)
    /// A file is no report of `notify-bench --json`, for this reason.
    case noReport(String, String)
    /// Runs that should be compared as one were made in different ways.
    case differentRuns
    /// The system could not create a resource; `code` is its `errno`.
    case notMade(String, code: Int32)

    package var description: String {
        switch self {
        case .timedOut(let what, let timeout):
            "waited \(timeout) for \(what), and it did not happen. If the machine is very busy, try again."
        case .miscounted(let handled, let posted):
            "\(posted) were posted and \(handled) handled."
        case .lost(let count):
            "\(count) notification\(count == 1 ? " was" : "s were") dropped on the way to observers."
        case .observersEnded:
            "the process that has the observers has ended. What it printed on standard error says why."
        case .noFigure(let figure):
            "a round's figure is \(figure)."
        case .unreadable(let path, let problem):
            "cannot read \(path): \(problem)"
        case .noReport(let path, let reason):
            "cannot compare with \(path): it is no report of 'notify-bench --json': \(reason)."
        case .differentRuns:
            "cannot compare: the earlier runs differ in the build, the cores or --quick. Give runs made alike."
        case .notMade(let what, let code):
            "the system did not make \(what) (error \(code)). Raise the limits of threads, descriptors or memory."
        }
    }
}
