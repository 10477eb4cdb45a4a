import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

struct AuditCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Account for every notification of a recording: its outcome for each observer.",
        discussion: """
            Each post has one outcome for each observer that it matches: delivered, coalesced, dropped by policy, \
            cancelled by removal, or target gone. Without an outcome it is pending: it waited when the recording ended. \
            Faults, such as a lost delivery, are listed. Deliveries that a truncated recording does not contain are \
            not reported as lost. A post that matches three \
            observers is posted once and matched three times.

            EXAMPLES
              notify-demo run overflow -o run.jsonl; notify-demo audit run.jsonl
              gunzip -c run.jsonl.gz | notify-demo audit -
              notify-demo audit --json run.jsonl | jq '.notifications[] | select(.pending > 0)'

            EXIT STATUS
              0 no faults, and nothing waited when a complete recording ended, 1 otherwise, 2 the recording cannot be read
            """)

    @Flag(help: "Print one JSON document.")
    var json = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup var input: RecordingInput

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (recording, selection) = try input.read(terminal)
        let audit = Audit(RecordingIndex(recording), selection: selection)
        let report = AuditReport(audit)
        if json {
            try terminal.print(report.json())
        } else {
            let result = report.result
            for line in report.text(width: terminal.width) {
                try terminal.print(
                    shown: [
                        line == result
                            ? terminal.palette.result(line, isGood: audit.isSettled) : terminal.palette.plain(line)
                    ])
            }
        }
        return audit.isSettled ? .success : .failed
    }
}
