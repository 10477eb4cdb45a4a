import ArgumentParser
import DeliveryDiagnostics

struct Diagnose: Command {
    static let configuration = CommandConfiguration(
        abstract: "Find what is wrong in a recording: problem, evidence and remedy, worst first.",
        discussion: """
            Each finding says what is wrong, shows up to three records with the place of the post and of the \
            registration in the source where they are known, and says what to do. A problem is what hardly anybody can have \
            meant; a note is worth knowing.

            EXAMPLES
              notify-demo run thread-exit -o run.jsonl; notify-demo diagnose run.jsonl
              notify-demo diagnose --main-budget 4ms --depth 100 run.jsonl
              notify-demo diagnose --json run.jsonl | jq -r '.findings[].problem'

            EXIT STATUS
              0 no problem, 1 a problem was found, 2 the recording cannot be read
            """)

    @Option(
        help: ArgumentHelp(
            "How long a handler may keep the main thread: a number with ns, us, ms or s.", valueName: "time"))
    var mainBudget = ElapsedTime(DiagnosisLimits().mainBudget)

    @Option(help: ArgumentHelp("How many notifications may wait for one thread.", valueName: "n"))
    var depth: Int = DiagnosisLimits().depth

    @Option(
        help: ArgumentHelp(
            "How long a thread may leave what waits for it while others go on.", valueName: "time"))
    var stall = ElapsedTime(DiagnosisLimits().stall)

    @Option(help: ArgumentHelp("How often in a row a handler may post to itself.", valueName: "n"))
    var chain: Int = DiagnosisLimits().chain

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var input: RecordingArgument

    func validate() throws {
        if depth < 1 { throw ValidationError("--depth takes a number of at least 1.") }
        if chain < 1 { throw ValidationError("--chain takes a number of at least 1.") }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let recording = try input.read(for: "diagnose", terminal)
        let limits = DiagnosisLimits(
            mainBudget: mainBudget.duration, depth: depth, stall: stall.duration, chain: chain)
        let diagnosis = Diagnosis(recording, limits: limits)
        let report = DiagnosisReport(diagnosis)
        if json {
            try terminal.print(report.json())
        } else {
            for line in report.text(width: TerminalWidth.ofTerminal ?? .max) {
                switch line.role {
                case .problem: try terminal.print(terminal.outputPalette.bad(line.text))
                case .note, .rest: try terminal.print(line.text)
                }
            }
        }
        return diagnosis.hasProblem ? .failed : .good
    }
}
