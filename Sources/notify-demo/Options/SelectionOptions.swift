import ArgumentParser
import DeliveryDiagnostics

/// The part of a recording that a command shows.
struct SelectionOptions: ParsableArguments {
    @Option(help: "Only notifications with this name.")
    var name: String?

    @Option(help: "Only what happens on this thread or is for it: its name or number.")
    var thread: String?

    @Option(duration: "Begin this long after the first record: 10ms, 1.5s, 200us.")
    var from: ElapsedTime?

    @Option(duration: "End this long after the first record.")
    var to: ElapsedTime?

    @Option(help: ArgumentHelp("Only this post, by its number.", valueName: "n"))
    var post: Int?

    func validate() throws {
        if let from, let to, from.nanoseconds > to.nanoseconds {
            throw ValidationError("--from \(from) is later than --to \(to).")
        }
    }

    var filter: RecordingFilter {
        RecordingFilter(
            name: name, thread: thread, post: post, from: from?.nanoseconds ?? 0, to: to?.nanoseconds ?? .max)
    }
}
