import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import ThreadedNotifications

struct Show: Command {
    static let configuration = CommandConfiguration(
        abstract: "Print the records of a recording as text.",
        discussion: """
            Each line has the time since the first record that is shown, the process and the thread, the stage, and \
            the notification.

            EXAMPLES
              notify-demo show
              notify-demo show run.jsonl --name PriceDidChange --from 10ms --to 12.5ms
              notify-demo show run.jsonl --json | jq -r ".stage // empty" | sort | uniq -c

            EXIT STATUS
              0 success, 2 the recording cannot be read, or does not contain the post, name or thread
            """)

    @OptionGroup var input: RecordingInput

    @Flag(help: "Print each record as JSON.")
    var json = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (recording, selection) = try input.read(terminal)
        let records = recording.entries.indices.filter { selection.contains(recording.entries[$0]) }
            .map { recording.record($0) }
        if json {
            var lines = RecordLines(of: recording)
            for record in records { try terminal.standardOutput.write(lines.bytes(of: record)) }
        } else {
            let style = StagesStyle(records)
            for record in records {
                try terminal.print(terminal.palette.numbered(style.line(for: record), record.thread.number - 1))
            }
        }
        return .success
    }
}
