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
            after it has written what its clients wait for; SIGQUIT ends it at once.

            With --status, the clients of the server that runs are shown and their observers. Each post counts once for \
            each process with an observer that matches it, and is then delivered, held or not delivered: dropped because \
            the process read too slowly, discarded because too many were held for it, coalesced because a later one \
            replaced it, suppressed because it was suspended and its observers drop, or removed with its observers.
            """)

    @Flag(help: "Show the status of the server that runs, and end.")
    var status = false

    @Flag(help: "Show the status as one JSON object.")
    var json = false

    @OptionGroup var server: ServerOption

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let directory = server.directory
        if !status, !json { return try serve(in: directory) }
        guard let status = try DistributedCenter.status(of: directory) else {
            terminal.report(ServerOption.noServer(in: directory))
            return .failed
        }
        try terminal.print(json ? [JSONText.of(status)] : status.report(width: terminal.width))
        return .success
    }

    private func serve(in directory: ServerDirectory) throws -> ExitStatus {
        let server = LocalServer(directory: directory) { event in
            // If standard error is closed, nothing can be logged.
            _ = try? FileDescriptor.standardError.writeAll(Workflow.neutralized("\(event)\n"))
        }
        EndRequests.take([SIGINT, SIGTERM, SIGHUP]) { _ in server.stop() }
        try server.run()
        return .success
    }
}
