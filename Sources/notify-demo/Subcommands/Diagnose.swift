import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

struct Diagnose: Command {
    static let configuration = CommandConfiguration(
        abstract: "Find problems in a recording, each with evidence and remedy, worst first.",
        discussion: """
            Each finding names the problem, shows up to three records as evidence, with the source locations of the \
            post and of the registration if they are known, and suggests a remedy. A problem is almost certainly a \
            mistake; a note is worth knowing.

            A file of accepted findings has one on each line: its kind, as --kinds lists it, and optionally the name \
            of the notification. Text after # is a comment.

            EXAMPLES
              notify-demo diagnose --main-budget 4ms --depth 100
              notify-demo diagnose --json | jq -r '.findings[].problem'
            """)

    @OptionGroup var options: DiagnosisOptions

    @Flag(help: "Fail for notes too.")
    var strict = false

    @Flag(help: "Print one JSON document.")
    var json = false

    @Flag(help: "List the kinds of findings, with what each means and the options of its limits, and end.")
    var kinds = false

    @OptionGroup var annotations: AnnotationOptions

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @OptionGroup(title: "Selection") var selected: SelectionOptions

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        if kinds {
            try terminal.print(Diagnosis.kinds(width: terminal.width))
            return .success
        }
        let accepted = try options.accepted
        let (index, selection) = try selected.read(path, terminal)
        let diagnosis = Diagnosis(index, limits: options.limits, accepted: accepted, selection: selection)
        if json {
            try terminal.print(diagnosis.json())
        } else {
            try terminal.print(shown: diagnosis.text(width: terminal.width, palette: terminal.palette))
            let view = diagnosis.findings.isEmpty ? "stats" : "timeline"
            let selected = diagnosis.firstName.map { " " + ShellText.option("--name", $0) } ?? ""
            try terminal.print(
                "\(diagnosis.totals)\nNext: \(NotifyDemo.calledName) \(view)\(RecordingFile.argument(path))\(selected)")
        }
        try terminal.standardOutput.flush()
        annotations.annotate(diagnosis.findings, title: "notify-demo diagnose", totals: diagnosis.totals, terminal)
        let isGood = strict ? diagnosis.findings.isEmpty : !diagnosis.hasProblem
        return options.status(isGood: isGood, unused: diagnosis.unusedAccepted, terminal)
    }
}
