public import ArgumentParser
public import DeliveryDiagnostics

extension StatisticsReport.Grouping: ExpressibleByArgument {}

struct Stats: Command {
    static let configuration = CommandConfiguration(
        abstract: "Say how many were delivered in a recording, how fast, and how deep mailboxes were.",
        discussion: """
            Each time has the unit that suits it: ns, µs, ms, s. p99 is the time that 99 of 100 took at most, to three \
            digits. Post to delivery is from the post to the handler's call; waiting, from the append to the target \
            thread's mailbox to the call; a handler lasts with all that it posts and is delivered at once. What nothing \
            is recorded of is a dash.

            EXAMPLES
              notify-demo run many-observers -o run.jsonl
              notify-demo stats run.jsonl
              notify-demo stats --by observer run.jsonl
              notify-demo stats --json run.jsonl | jq .total.postToDelivery.p99

            EXIT STATUS
              0 said, 2 the recording cannot be read
            """)

    @OptionGroup var input: RecordingArgument

    @Option(help: "One grouping in full, in place of all in short.")
    var by: StatisticsReport.Grouping?

    @Flag(help: "Print everything as one JSON object; times are in nanoseconds.")
    var json = false

    func validate() throws {
        if json, by != nil {
            throw ValidationError("--json prints all groupings, so it takes no --by. Leave out one of them.")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let statistics = DeliveryStatistics(try input.read(for: "stats", terminal))
        if json {
            try terminal.print(JSONText.of(statistics))
        } else {
            try terminal.print(StatisticsReport(statistics).text(by: by))
        }
        return .good
    }
}
