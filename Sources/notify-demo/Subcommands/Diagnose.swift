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
            mistake; a note is worth knowing. The totals are those of 'stats'.

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

    @Flag(help: "List the kinds of findings, with what each means and its limits, and end.")
    var kinds = false

    @OptionGroup var annotations: AnnotationOptions

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @OptionGroup(title: "Selection") var selected: SelectionOptions

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        if kinds {
            try terminal.print(
                json
                    ? [DiagnosisReport.kindsJSON(options.limits)]
                    : DiagnosisReport.kinds(options.limits, width: terminal.width))
            return .success
        }
        let accepted = try options.accepted
        let (recording, selection) = try selected.read(path, terminal)
        let diagnosis = Diagnosis(
            RecordingIndex(recording), limits: options.limits, accepted: accepted, selection: selection)
        let report = DiagnosisReport(diagnosis)
        if json {
            try terminal.print(report.json())
        } else {
            let palette = terminal.palette
            try terminal.print(
                shown: report.text(width: terminal.width).map {
                    $0.isProblem ? palette.bad($0.text) : palette.plain($0.text)
                })
            var next = "\(Invocation.name) \(diagnosis.hasFinding ? "timeline" : "stats")"
            next += RecordingFile.argument(path)
            let selection = diagnosis.firstSelection
            if !selection.isEmpty { next += " " + ShellText.option(selection[0], selection[1]) }
            try terminal.print("\n\(diagnosis.totals)\nNext: \(next)")
        }
        try terminal.standardOutput.flush()
        annotations.annotate(report.findings, title: "notify-demo diagnose", totals: diagnosis.totals, terminal)
        let isGood = strict ? !diagnosis.hasFinding : !diagnosis.hasProblem
        return options.status(isGood: isGood, unused: diagnosis.unusedAccepted, terminal)
    }
}
