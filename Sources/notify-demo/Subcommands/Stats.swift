import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

extension StatisticsReport.Grouping: ExpressibleByArgument {}

struct Stats: Command {
    static let configuration = CommandConfiguration(
        abstract: "Count what became of every notification, and the times: latencies and mailbox depths.",
        discussion: """
            Posted counts every post once; a post that matches three observers is matched three times. Each match has \
            one outcome: delivered, coalesced, dropped by policy, cancelled by removal, or target gone; or it is \
            pending, because it waited when the recording ended, or lost, which 'diagnose' reports. Post to delivery is \
            the time from the post to the handler's call; waiting is the time in the target thread's mailbox. p99 is the \
            time that 99 of 100 took at most. A dash means that nothing was recorded.

            EXAMPLES
              notify-demo stats --by observer run.jsonl
              notify-demo stats --json run.jsonl | jq .total.postToDelivery.p99
            """)

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @OptionGroup(title: "Selection") var selected: SelectionOptions

    @Option(help: "Print all rows of one grouping instead of a summary of all.")
    var by: StatisticsReport.Grouping?

    @Flag(help: "Print everything as one JSON object; times are in nanoseconds.")
    var json = false

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (index, selection) = try selected.read(path, terminal)
        let statistics = DeliveryStatistics(index, selection)
        if json {
            try terminal.print(JSONText.of(statistics))
        } else {
            try terminal.print(StatisticsReport(statistics, width: TerminalWidth.ofTerminal ?? 80).text(by: by))
        }
        return .success
    }
}
