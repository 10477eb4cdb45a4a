import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText
import ThreadedNotifications

struct Show: Command {
    static let configuration = CommandConfiguration(
        abstract: "Print the records of a recording as text.",
        discussion: """
            Each line has the time since the first record that is shown, the process and the thread, the stage, and \
            the notification.

            EXAMPLES
              notify-demo show
              notify-demo run flood -o run.jsonl; notify-demo show run.jsonl --to 1ms
              notify-demo show --json run.jsonl | jq -r .stage | sort | uniq -c
            """)

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @OptionGroup(title: "Selection") var selected: SelectionOptions

    @Flag(help: "Print the lines of the recording as they are, which other commands read.")
    var json = false

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        if json {
            // The lines of the file, so that another command answers for them as for the file.
            var lines: RecordingLines?
            let recording = try RecordingFile.read(path, terminal) { path, progress in
                let read = try RecordingLines(path: path, progress: progress)
                lines = read
                return read.recording
            }
            let selection = try selected.selection(of: RecordingIndex(recording))
            let selected = recording.entries.lazy.filter(selection.contains).map(\.line)
            try lines?.forEach(selected: selection.isEverything ? nil : Set(selected)) {
                try terminal.standardOutput.write($0)
            }
            return .success
        }
        let (index, selection) = try selected.read(path, terminal)
        let recording = index.recording
        let entries = recording.entries.lazy.filter(selection.contains)
        let style = StagesStyle(recording, entries)
        for entry in entries {
            let thread = recording.threads[Int(entry.thread)].identity.number
            try terminal.print(shown: [terminal.palette.numbered(style.line(for: entry), thread - 1)])
        }
        return .success
    }
}
