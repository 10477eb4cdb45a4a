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
            for a minute. This command runs one that logs to standard error and serves until it is told to end. \
            SIGTERM and Ctrl-C end it after it has said goodbye to its clients and written what waits for them, for 2 \
            seconds at most; a second one ends it at once. A socket that systemd passes is used. install.sh installs \
            units for systemd that start notification-server, which serves without these options.

            With --status, no server is run or started. The clients of the server that runs are shown, their \
            observers, and the notifications that wait. Dropped notifications were not sent to a process because it \
            read too slowly. Discarded ones exceeded the limit of notifications that are held for a suspended process.

            EXAMPLES
              notify-demo serve
              notify-demo serve --idle-exit 5m
              notify-demo serve --status
              notify-demo serve --status --json | jq '.clients[] | select(.dropped > 0) | .process'
              systemctl --user enable --now distributed-notifications.socket

            EXIT STATUS
              0 told to end, or idle for as long as --idle-exit says; 2 the directory cannot be used, or another \
            server serves there. With --status: 0 shown, 1 no server runs, 2 it does not answer or cannot be reached
            """)

    @Option(duration: "End after this time without a client: 200ms, 5s, 2m (default: never).")
    var idleExit: ElapsedTime?

    @Flag(help: "Show the status of the server that runs, and end.")
    var status = false

    @Flag(help: "With --status, print one JSON object.")
    var json = false

    @OptionGroup var server: ServerOption

    func validate() throws {
        if json, !status { throw ValidationError("--json prints the status, so it needs --status.") }
        if status, idleExit != nil {
            throw ValidationError("--status runs no server, so --idle-exit has no effect. Use one of them.")
        }
        if let idleExit, idleExit.nanoseconds == 0 {
            throw ValidationError(
                "--idle-exit is 0, so the server would end before a client connects. Use a second or more.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        status ? try showStatus(terminal) : try serve()
    }

    private func showStatus(_ terminal: Terminal) throws -> ExitStatus {
        let directory = server.directory
        guard let status = try DistributedCenter.status(of: directory) else {
            terminal.report(
                "no server runs at \(directory.path). The first process that posts or observes starts one.")
            return .failed
        }
        try terminal.print(json ? [JSONText.of(status)] : status.report(width: terminal.width))
        return .success
    }

    private func serve() throws -> ExitStatus {
        let style = DocumentStyle()
        let log: @Sendable (String) -> Void = { text in
            let now = style.time(Int64(Date.now.timeIntervalSince1970 * 1e9))
            // If standard error is closed, nothing can be logged.
            _ = try? FileDescriptor.standardError.writeAll(Array("\(now) \(text)\n".utf8))
        }
        var limits = ServerLimits()
        if let idleExit { limits.idleTimeout = idleExit.duration }
        let server = LocalServer(directory: self.server.directory, limits: limits) { log("\($0)") }
        try EndRequests.handle([SIGINT, SIGTERM, SIGHUP]) { number in
            // A second request ends the process at once.
            EndRequests.stop()
            log("asked to end by signal \(number)")
            server.stop()
        }
        try server.run(endsWhenIdle: idleExit != nil)
        log("ended")
        return .success
    }
}
