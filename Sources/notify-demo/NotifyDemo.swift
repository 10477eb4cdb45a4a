import ArgumentParser
import DeliveryDiagnostics
import Foundation
import NotificationServer
import Scenarios
import SystemPackage
import TerminalText

/// The command line. The main thread belongs to the program, because scenarios run its run loop.
@main
struct NotifyDemo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify-demo",
        abstract: "Show on which thread notifications are delivered, and record, diagnose and compare deliveries.",
        discussion: """
            Without a subcommand, it shows a short guided tour.

            With --json, a report is one JSON document, and a sequence of records or notifications has one JSON \
            document per line. The same field has the same name everywhere. Times are in nanoseconds. \
            Durations on the command line have a unit: ns, us, ms, s, m, h or d.

            EXAMPLES
              notify-demo run redirect
              notify-demo record -- ./my-program
              notify-demo diagnose
              notify-demo check --rule 'PriceDidChange on main'

            EXIT STATUS
              0    success
              1    an expectation or a rule failed, runs differ, a
                   problem was found, no notification came, or no
                   server runs
              2    error: a file cannot be read or written, or the
                   server cannot be reached or started
              64   usage error
              130  interrupted by Ctrl-C
            """, version: "1.0.0",
        groupedSubcommands: [
            CommandGroup(name: "Demonstrations", subcommands: [Tour.self, List.self, Run.self, Smoke.self]),
            CommandGroup(
                name: "Recordings",
                subcommands: [
                    Record.self, Show.self, Diagnose.self, Check.self, Compare.self,
                    TimelineCommand.self, Stats.self, Trace.self,
                ]),
            CommandGroup(name: "Between processes", subcommands: [Post.self, Observe.self, Serve.self, Bridge.self]),
            CommandGroup(name: "Installation", subcommands: [Doctor.self]),
        ], defaultSubcommand: Tour.self)

    /// The name by which it was called, for commands to paste: a name in PATH, a path, or that of `Scripts/demo.sh`.
    static let calledName = ShellText.path(CommandLine.arguments.first ?? "notify-demo")

    static func main() {
        // A client may have started this program as the server.
        NotificationServer.runIfAsked()
        // Output without a reader is discarded, and a file that exceeds a size limit is an error.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ) { _ in }
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if try runChild(arguments[...]) { return }
            var command = try command(of: arguments)
            try command.run()
        } catch {
            exit(showing: error)
        }
    }

    /// Parses the arguments. A word that is not a subcommand would be passed to the default subcommand.
    static func command(of arguments: [String]) throws -> any ParsableCommand {
        let names = configuration.groupedSubcommands.flatMap(\.subcommands).map { $0._commandName }
        guard let word = arguments.first, !word.hasPrefix("-"), word != "help", !names.contains(word) else {
            return try parseAsRoot(arguments)
        }
        let near = Suggestion.nearest(to: word, among: names).map { " Did you mean '\($0)'?" }
        throw ValidationError("There is no subcommand '\(word)'.\(near ?? "")")
    }

    /// The first argument of the process that `doctor` records.
    static let posts = "doctor-child"

    /// Runs the child process of a subcommand, if the arguments ask for one.
    private static func runChild(_ arguments: ArraySlice<String>) throws -> Bool {
        switch arguments.first {
        case posts: NotificationCenter.default.post(name: Notification.Name("Recorded"), object: nil)
        case LifetimeProgram.subcommand: try LifetimeProgram.run(arguments.dropFirst())
        case DistributedProgram.subcommand: try DistributedProgram.run(arguments.dropFirst())
        default: return false
        }
        return true
    }

    /// Prints the message of an error, or the help, and exits.
    private static func exit(showing error: any Error) -> Never {
        var (text, status) = (fullMessage(for: error), exitCode(for: error).rawValue)
        if status == 0 {
            do {
                try Output("-").finish(text)
                Foundation.exit(status)
            } catch {
                (text, status) = ("notify-demo: \(error)", ExitStatus.error.rawValue)
            }
        }
        if !text.isEmpty {
            // A message may quote the arguments and the names of files. Standard error may be closed.
            _ = try? FileDescriptor.standardError.writeAll(Workflow.neutralized("\(ShownText.lines(text))\n"))
        }
        Foundation.exit(status)
    }
}
