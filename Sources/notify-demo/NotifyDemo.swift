import ArgumentParser
import NotificationServer

/// Parse, call, print, exit. The main thread is the program's own: scenarios run its run loop.
@main
struct NotifyDemo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify-demo",
        abstract: "Shows on which thread notifications are delivered, and what became of them in a program.",
        discussion: """
            Without a subcommand: a short guided tour.

            EXAMPLES
              notify-demo
              notify-demo list
              notify-demo run redirect --style stages
              notify-demo run posting-thread | notify-demo compare --reference listing-1 -
              notify-demo run flood --posters 8 --notifications 400000 --drop-signals 0.99
              notify-demo record -o run.jsonl -- ./my-program
              notify-demo diagnose run.jsonl
              notify-demo timeline run.jsonl
              notify-demo compare yesterday.jsonl today.jsonl
              notify-demo observe build-done
              notify-demo post build-done --user-info count:=3
              notify-demo bench same-thread burst
              notify-demo smoke

            EXIT STATUS
              0  good: as expected, the same, nothing found
              1  an expectation failed, runs differ, something was found, nothing came
              2  trouble: a file cannot be read or written, a server not be reached
              64 the command line is wrong
              130 ended by Ctrl-C
            """,
        subcommands: [
            Tour.self, List.self, Run.self, Record.self, AuditCommand.self, Diagnose.self, Compare.self,
            TimelineCommand.self, Trace.self, Stats.self, Post.self, Observe.self, Wait.self, Serve.self, Status.self,
            Doctor.self, Bench.self, Smoke.self,
            // Hidden: what these start, and what install.sh asks.
            LifetimeChild.self, DistributedChild.self, DoctorChild.self, RecordingChild.self, ObserversChild.self,
            GenerateManual.self,
        ],
        defaultSubcommand: Tour.self
    )
    static func main() {
        // A client may have started this program as the server.
        NotificationServer.runIfAsked()
        main(nil)
    }
}
