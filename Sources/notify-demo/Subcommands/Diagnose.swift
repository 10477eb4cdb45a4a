import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

struct Diagnose: Command {
    static let configuration = CommandConfiguration(
        abstract: "Find problems in a recording, each with evidence and remedy, worst first.",
        discussion: """
            Each finding names the problem, shows up to three records as evidence, with the source locations of the \
            post and of the registration if they are known, and suggests a remedy. A problem is almost certainly a \
            mistake; a note is worth knowing. The totals are those of 'audit'.

            Posts to a Foundation center, such as NotificationCenter.default, are recorded only if the library observes \
            their name there. If such a name is misspelt, a note says that the observed name was never posted.

            A file of accepted findings has one on each line: its kind, as --json prints it, and optionally the name \
            of the notification. Text after # is a comment.

            EXAMPLES
              notify-demo run thread-exit -o run.jsonl; notify-demo diagnose run.jsonl
              notify-demo diagnose --main-budget 4ms --depth 100
              notify-demo diagnose --json run.jsonl | jq -r '.findings[].problem'

            EXIT STATUS
              0 no problem, 1 a problem was found, 2 the recording cannot be read
            """)

    @Option(duration: "The longest that a handler may occupy the main thread: 4ms.")
    var mainBudget = ElapsedTime(DiagnosisLimits().mainBudget)

    @Option(help: ArgumentHelp("The number of notifications that may wait for one thread.", valueName: "n"))
    var depth: Int = DiagnosisLimits().depth

    @Option(duration: "The longest that notifications may wait for a thread while other threads continue.")
    var stall = ElapsedTime(DiagnosisLimits().stall)

    @Option(help: ArgumentHelp("The number of times in a row that a handler may post to itself.", valueName: "n"))
    var chain: Int = DiagnosisLimits().chain

    @Flag(help: "Fail for notes too.")
    var strict = false

    @Option(
        help: ArgumentHelp("Leave out the findings that this file accepts.", valueName: "file"), completion: .file())
    var accept: String?

    @Flag(help: "Print one JSON document.")
    var json = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup var input: RecordingInput

    func validate() throws {
        if depth < 1 { throw ValidationError("--depth is \(depth); it must be 1 or more.") }
        if chain < 1 { throw ValidationError("--chain is \(chain); it must be 1 or more.") }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let accepted = try accept.map { try AcceptedFindings(path: $0) } ?? AcceptedFindings()
        let limits = DiagnosisLimits(mainBudget: mainBudget.duration, depth: depth, stall: stall.duration, chain: chain)
        let (recording, selection) = try input.read(terminal)
        let diagnosis = Diagnosis(RecordingIndex(recording), limits: limits, accepted: accepted, selection: selection)
        let report = DiagnosisReport(diagnosis)
        if json {
            try terminal.print(report.json())
        } else {
            for line in report.text(width: terminal.width) {
                try terminal.print(line.isProblem ? terminal.palette.bad(line.text) : line.text)
            }
            let reader = (diagnosis.hasFinding ? "timeline" : "audit") + RecordingInput.argument(input.path)
            let next = ["notify-demo", reader] + diagnosis.firstSelection.map(ShownText.name)
            try terminal.print("\n\(diagnosis.totals)\nNext: \(next.joined(separator: " "))")
        }
        return (strict ? diagnosis.hasFinding : diagnosis.hasProblem) ? .failed : .success
    }
}
