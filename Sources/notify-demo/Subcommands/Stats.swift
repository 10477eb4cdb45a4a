internal import ArgumentParser
public import DeliveryDiagnostics
internal import DeliveryRecording

extension StatisticsReport.Grouping: ExpressibleByArgument {}

struct Stats: Command {
    static let configuration = CommandConfiguration(
        abstract: "Print statistics of a recording: deliveries, latencies and mailbox depths.",
        discussion: """
            Each time has a fitting unit: ns, µs, ms or s. p99 is the time that 99 of 100 took at most, to three \
            digits. Post to delivery is the time from the post to the handler's call; waiting is the time from the \
            append to the target thread's mailbox to the call. A handler's time includes its own posts that are \
            delivered at once. Posted counts every post once; matched counts the posts that an observer matched. A \
            dash means that nothing was recorded.

            EXAMPLES
              notify-demo run many-observers -o run.jsonl; notify-demo stats run.jsonl
              notify-demo stats --by observer run.jsonl
              notify-demo stats --json run.jsonl | jq .total.postToDelivery.p99

            EXIT STATUS
              0 success, 2 the recording cannot be read
            """)

    @OptionGroup var input: RecordingInput

    @Option(help: "Print one grouping in full instead of a summary of all.")
    var by: StatisticsReport.Grouping?

    @Flag(help: "Print everything as one JSON object; times are in nanoseconds.")
    var json = false

    func validate() throws {
        if json, by != nil {
            throw ValidationError("--json prints all groupings, so --by has no effect. Use one of them.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (recording, selection) = try input.read(terminal)
        let statistics = DeliveryStatistics(RecordingIndex(recording), selection)
        if json {
            try terminal.print(JSONText.of(statistics))
        } else {
            try terminal.print(StatisticsReport(statistics, width: TerminalWidth.ofTerminal ?? 80).text(by: by))
        }
        return .success
    }
}
