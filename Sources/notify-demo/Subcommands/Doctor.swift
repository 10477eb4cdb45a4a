import ArgumentParser
import DeliveryDiagnostics
import Foundation

struct Doctor: Command {
    static let configuration = CommandConfiguration(
        abstract: "Show what this platform's Foundation does otherwise than is expected, and what this package does.",
        discussion: """
            Facts F1 to F23 are known of Foundation on Linux. Each is looked at again, in processes of their own, since some \
            do not survive it: ok is what is expected, NO is not, with what was seen. Words in brackets differ from run to run.

            With --json each fact is a line: fact, area, expected, and questions, each of which has name, claim, foundation \
            and ours, with kept (true or false), observed and expected; sentence, the document's, where there is one; and \
            noCounterpart, the reason, where there is no ours.

            EXAMPLES
              notify-demo doctor
              notify-demo doctor --fact F7 --fact F11
              notify-demo doctor --json | jq -r 'select(any(.questions[]; .foundation.kept)) | .fact'
              notify-demo doctor --queues

            EXIT STATUS
              0 whatever Foundation does, 1 this package does not do what is expected of it, 2 a process cannot be started
            """)

    @Option(help: ArgumentHelp("Look at this fact only; may be given more than once.", valueName: "number"))
    var fact: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long one process may take, at most 3600. One that takes longer is reported as hanging.",
            valueName: "seconds"))
    var limit = 60.0

    @Flag(help: "Print a fact a line as JSON.")
    var json = false

    @Flag(help: "Print which promises of a notification queue are kept, instead of the facts.")
    var queues = false

    @Flag(help: "With --queues: print a table in Markdown.")
    var markdown = false

    func validate() throws {
        for number in fact where !PlatformExamination.facts.contains(number.uppercased()) {
            throw ValidationError("there is no fact \"\(number)\": they are F1 to F\(PlatformExamination.facts.count).")
        }
        guard limit > 0, limit <= 3600 else {
            throw ValidationError("--limit is \(limit), and must be from 0 to 3600, and not 0.")
        }
        if queues, json || !fact.isEmpty {
            throw ValidationError(
                "--queues is about all promises of a queue, as text: it takes no --fact and no --json.")
        }
        if markdown, !queues {
            throw ValidationError("--markdown is for --queues.")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        guard let path = Bundle.main.executablePath else { throw ScenarioError.noChildProgram }
        let childProgram = ChildProgram(path: path, arguments: [DoctorChild.name])
        let progress = ProgressLine("doctor")
        defer { progress.clear() }
        let show: @Sendable (Double) -> Void = { progress.show("\(Int($0 * 100)) % asked") }
        if queues {
            let comparison = try QueueComparison.perform(
                in: childProgram, limit: .seconds(limit), progress: show)
            progress.clear()
            try terminal.print(markdown ? comparison.markdown : comparison.text)
            return comparison.rows.allSatisfy { $0.postingQueue == .kept } ? .good : .failed
        }
        let facts = fact.isEmpty ? nil : Set(fact.map { $0.uppercased() })
        let examination = try PlatformExamination.perform(
            facts: facts, in: childProgram, limit: .seconds(limit), progress: show)
        progress.clear()
        if json {
            for line in try examination.jsonLines() { try terminal.print(line) }
        } else {
            let palette = terminal.outputPalette
            try terminal.print(
                examination.text(width: TerminalWidth.current) { mark, isKept in
                    isKept ? palette.good(mark) : palette.bad(mark)
                })
        }
        try terminal.flush()
        for failure in examination.failures {
            let expectation = Expectation.failed(
                failure.claim, because: "\(failure.ours?.observed ?? ""), and not \(failure.expectedOfOurs)")
            terminal.say(ExpectationLine.text(of: expectation, palette: terminal.errorPalette))
        }
        return examination.failures.isEmpty ? .good : .failed
    }
}
