import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

extension ElapsedTime: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    public var defaultValueDescription: String { Self.exact(nanoseconds) }
}

/// When a diagnosis finds something, and which findings a project accepts.
struct DiagnosisOptions: ParsableArguments {
    @Option(help: "The longest that a handler may occupy the main thread: 200us, 16ms, 1.5s.")
    var mainBudget = DiagnosisLimits.usual.mainBudget

    @Option(help: "The number of notifications that may wait for one thread.")
    var depth = DiagnosisLimits.usual.depth

    @Option(help: "The longest that notifications may wait for a thread, or a thread for another, if others continue.")
    var stall = DiagnosisLimits.usual.stall

    @Option(help: "The number of times in a row that a handler may post to itself.")
    var chain = DiagnosisLimits.usual.chain

    @Option(help: "Leave out the findings that this file accepts.", completion: .file())
    var accept: String?

    @Flag(help: "Fail if a finding is accepted that does not occur any more.")
    var failUnused = false

    func validate() throws { try ValidationError.check("--depth", depth, from: 1, to: .max) }

    var limits: DiagnosisLimits {
        var limits = DiagnosisLimits.usual
        (limits.mainBudget, limits.depth, limits.stall, limits.chain) = (mainBudget, depth, stall, chain)
        return limits
    }

    /// Reads the file of accepted findings.
    var accepted: AcceptedFindings {
        get throws {
            try accept.map { try AcceptedFindings(text: LineSource.text(path: $0), source: $0) } ?? AcceptedFindings()
        }
    }

    /// Reads rules before there is a recording, so that an error is reported at once.
    ///
    /// - Parameters:
    ///   - files: files with rules.
    ///   - texts: rules that follow them.
    /// - Returns: what checks a recording.
    /// - Throws: `LogError` for a file that cannot be read, `ValidationError` for rules that cannot.
    func check(rulesIn files: [String], _ texts: [String] = []) throws -> (Recording) -> RuleCheck {
        let accepted = try accepted
        let files = try files.map { ($0, try LineSource.text(path: $0)) }
        var rules: [Rule] = []
        try ValidationError.check {
            rules = try files.flatMap { try Rule.rules($1, source: $0) } + Self.rules(texts)
        }
        return { [rules] in RuleCheck(rules, RecordingIndex($0), limits: limits, accepted: accepted) }
    }

    /// The rules of `--rule`.
    static func rules(_ texts: [String]) throws -> [Rule] {
        try texts.flatMap { try Rule.rules($0, source: "--rule", isFile: false) }
    }

    /// The status of a command that has found something or not, and reports the lines of the file of accepted findings
    /// that accept nothing.
    func status(isGood: Bool, unused lines: [String], _ terminal: Terminal) -> ExitStatus {
        for line in lines { terminal.report("\(line): the recording has no such finding") }
        return isGood && (!failUnused || lines.isEmpty) ? .success : .failed
    }
}
