/// Why there is no figure.
package enum BenchmarkError: Error, Hashable, CustomStringConvertible {
    case timedOut(waitingFor: String, after: Duration)
    /// What was posted was not handled, or handled more than once.
    case miscounted(handled: Int, posted: Int)
    /// So many notifications did not get to an observer, and it was told so.
    case lost(Int)
    /// The process that has the observers has ended by itself.
    case observersEnded
    /// Observers are to be in a process of their own, and it is not known which program to start.
    case noObserversProgram
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
        case .lost(let count):
            "\(count) notification\(count == 1 ? " was" : "s were") dropped on the way to observers."
        case .observersEnded:
            "the process that has the observers has ended. What it printed on standard error says why."
        case .noObserversProgram:
            "there is no program to start for the observers. Run 'notify-demo bench'."
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
