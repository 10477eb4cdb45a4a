import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import NotificationServer
import SystemPackage

struct Serve: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run the server of this user's notifications in the foreground, or show what it does.",
        discussion: """
            The first process that posts or observes starts a server by itself, which ends when it has had no client \
            for a minute. This command runs one that logs to standard error and serves until SIGTERM or Ctrl-C ends it, \
            after it has written what its clients wait for; a second one ends it at once.

            With --status, the clients of the server that runs are shown, their observers, and the notifications that \
            wait. Each post counts once for each process with an observer that matches it, and is then delivered, held \
            or not delivered: dropped because the process read too slowly, discarded because too many were held for \
            it, coalesced because a later one replaced it, suppressed because it was suspended and its observers drop, \
            or removed with its observers. The numbers of a process add up.

            EXAMPLES
              notify-demo serve --status
              notify-demo serve --status --json | jq '.clients[].dropped'

            EXIT STATUS
              0    it was told to end; with --status, the status is shown
              1    with --status, no server runs
              2    the directory cannot be used, or another server serves
                   there; with --status, it cannot be reached
            """)

    @Flag(help: "Show the status of the server that runs, and end.")
    var status = false

    @Flag(help: "With --status, print one JSON object.")
    var json = false

    @OptionGroup var server: ServerOption

    func validate() throws {
        if json, !status { throw ValidationError("--json prints the status, so it needs --status.") }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let directory = server.directory
        if !status { return try serve(in: directory) }
        guard let status = try DistributedCenter.status(of: directory) else {
            terminal.report(ServerOption.noServer(in: directory))
            return .failed
        }
        try terminal.print(json ? [JSONText.of(status)] : status.report(width: terminal.width))
        return .success
    }

    private func serve(in directory: ServerDirectory) throws -> ExitStatus {
        let log: @Sendable (String) -> Void = { text in
            let time = DocumentStyle().time(Int64(Date.now.timeIntervalSince1970 * 1e9))
            // If standard error is closed, nothing can be logged.
            _ = try? FileDescriptor.standardError.writeAll(Workflow.neutralized("\(time) \(text)\n"))
        }
        let server = LocalServer(directory: directory) { log("\($0)") }
        try EndRequests.taking([SIGINT, SIGTERM, SIGHUP]) { number in
            log("asked to end by signal \(number)")
            server.stop()
            // A second request ends the process at once.
            return false
        } during: {
            try server.run()
        }
        log("ended")
        return .success
    }
}
