import ArgumentParser
import NotificationServer

/// The command line. The main thread belongs to the program, because scenarios run its run loop.
@main
struct NotifyDemo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify-demo",
        abstract: "Show on which thread notifications are delivered, and record, audit and compare deliveries.",
        discussion: """
            Without a subcommand, it shows a short guided tour.

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
              notify-demo smoke

            EXIT STATUS
              0  success
              1  an expectation failed, runs differ, a problem was found, or no notification came
              2  error: a file cannot be read or written, or the server cannot be reached
              64 usage error
              130 interrupted by Ctrl-C
            """,
        subcommands: [
            Tour.self, List.self, Run.self, Record.self, AuditCommand.self, Diagnose.self, Compare.self,
            TimelineCommand.self, Trace.self, Stats.self, Post.self, Observe.self, Wait.self, Serve.self, Status.self,
            Doctor.self, Smoke.self,
            // Hidden subcommands: child processes of other subcommands, and the manual page for install.sh.
            LifetimeChild.self, DistributedChild.self, DoctorChild.self, PropertyListChild.self,
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
