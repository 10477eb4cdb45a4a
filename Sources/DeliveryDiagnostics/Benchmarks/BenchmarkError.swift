/// Why there is no figure.
package enum BenchmarkError: Error, Hashable, CustomStringConvertible {
    case timedOut(waitingFor: String, after: Duration)
    /// What was posted was not handled, or handled more than once.
    case miscounted(handled: Int, posted: Int)
    /// A round's figure is no number, or negative, or not of what was asked for.
    case noFigure(String)
    /// The process may not run on this core, or there is none of this number.
    case noSuchCore(Int)
    /// The system did not make something; `code` is its `errno`.
    case notMade(String, code: Int32)

    package var description: String {
        switch self {
        case .timedOut(let what, let limit):
            "waited \(limit) for \(what), and it did not happen. If the machine is very busy, try again."
        case .miscounted(let handled, let posted):
            "\(posted) were posted and \(handled) handled."
        case .noFigure(let figure):
            "a round's figure is \(figure)."
        case .noSuchCore(let core):
            "this process cannot run on core \(core): it may run on "
                + ProcessorCores.available.map(String.init).joined(separator: ", ") + "."
        case .notMade(let what, let code):
            "the system did not make \(what) (error \(code)). Raise the limits of threads, descriptors or memory."
        }
    }
}
