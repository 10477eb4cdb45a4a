import ArgumentParser
import DeliveryDiagnostics

extension Duration {
    /// As the value of an option: `16ms`.
    fileprivate var typed: String { ElapsedTime.exact(ElapsedTime(self).nanoseconds) }
}

/// When a diagnosis finds something, and which findings a project accepts.
struct DiagnosisOptions: ParsableArguments {
    @Option(
        help: """
            The longest that a handler may occupy the main thread: 200us, 16ms, 1.5s. (default: \
            \(DiagnosisLimits().mainBudget.typed))
            """,
        transform: ElapsedTime.argument)
    var mainBudget = ElapsedTime(DiagnosisLimits().mainBudget)

    @Option(help: "The number of notifications that may wait for one thread.")
    var depth = DiagnosisLimits().depth

    @Option(
        help: """
            The longest that notifications may wait for a thread, or a thread for another, if others continue. \
            (default: \(DiagnosisLimits().stall.typed))
            """,
        transform: ElapsedTime.argument)
    var stall = ElapsedTime(DiagnosisLimits().stall)

    @Option(help: "The number of times in a row that a handler may post to itself.")
    var chain = DiagnosisLimits().chain

    @Option(help: "Leave out the findings that this file accepts.", completion: .file())
    var accept: String?

    @Flag(help: "Fail if a finding is accepted that does not occur any more.")
    var failUnused = false

    func validate() throws {
        if failUnused, accept == nil { throw ValidationError("--fail-unused has no effect without --accept.") }
        try ValidationError.check("--depth", depth, from: 1)
        try ValidationError.check("--chain", chain, from: 1)
    }

    var limits: DiagnosisLimits {
        DiagnosisLimits(mainBudget: mainBudget.duration, depth: depth, stall: stall.duration, chain: chain)
    }

    /// Reads the file of accepted findings.
    var accepted: AcceptedFindings {
        get throws { try accept.map { try AcceptedFindings(path: $0) } ?? AcceptedFindings() }
    }

    /// Reports the lines of the file of accepted findings that accept nothing.
    ///
    /// - Returns: true if that is a failure.
    func failsForUnused(_ lines: [String], _ terminal: Terminal) -> Bool {
        for line in lines { terminal.report("\(line): the recording has no such finding") }
        return failUnused && !lines.isEmpty
    }
}
