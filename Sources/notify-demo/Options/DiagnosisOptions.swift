import ArgumentParser
import DeliveryDiagnostics

/// When a diagnosis finds something, and which findings a project accepts.
struct DiagnosisOptions: ParsableArguments {
    @Option(duration: "The longest that a handler may occupy the main thread.")
    var mainBudget = ElapsedTime(DiagnosisLimits().mainBudget)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of notifications that may wait for one thread.", valueName: "n"))
    var depth: Int = DiagnosisLimits().depth

    @Option(
        duration:
            "The longest that notifications may wait for a thread, or a thread for another, while others continue.")
    var stall = ElapsedTime(DiagnosisLimits().stall)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of times in a row that a handler may post to itself.", valueName: "n"))
    var chain: Int = DiagnosisLimits().chain

    @Option(
        help: ArgumentHelp("Leave out the findings that this file accepts.", valueName: "file"), completion: .file())
    var accept: String?

    @Flag(help: "Fail if a finding is accepted that does not occur any more.")
    var failUnused = false

    func validate() throws {
        if failUnused, accept == nil { throw ValidationError("--fail-unused has no effect without --accept.") }
        if depth < 1 { throw ValidationError("--depth is \(depth); it must be 1 or more.") }
        if chain < 1 { throw ValidationError("--chain is \(chain); it must be 1 or more.") }
    }

    var limits: DiagnosisLimits {
        DiagnosisLimits(mainBudget: mainBudget.duration, depth: depth, stall: stall.duration, chain: chain)
    }

    /// Reports the lines of the file of accepted findings that accept nothing.
    ///
    /// - Returns: true if that is a failure.
    func failsForUnused(_ lines: [String], _ terminal: Terminal) -> Bool {
        for line in lines { terminal.report("\(line): the recording has no such finding") }
        return failUnused && !lines.isEmpty
    }

    /// Reads the file of accepted findings.
    var accepted: AcceptedFindings {
        get throws { try accept.map { try AcceptedFindings(path: $0) } ?? AcceptedFindings() }
    }
}
