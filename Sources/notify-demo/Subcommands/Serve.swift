import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import NotificationServer
import SystemPackage

struct Serve: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run the server of this user's notifications in the foreground.",
        discussion: """
            The first process that posts or observes starts a server by itself, which ends when it has had no client \
            for a minute. This command runs one that logs to standard error and serves until it is told to end. \
            SIGTERM and Ctrl-C end it after it has said goodbye to its clients and written what waits for them, for 2 \
            seconds at most; a second one ends it at once. A socket that systemd passes is used. install.sh installs \
            units for systemd that start notification-server, which serves without these options.

            EXAMPLES
              notify-demo serve
              notify-demo serve --log-level debug --idle-exit 5m
              systemctl --user enable --now distributed-notifications.socket

            EXIT STATUS
              0 told to end, or idle for as long as --idle-exit says; 2 the directory cannot be used, or another \
            server serves there
            """)

    @Option(duration: "End after this time without a client: 200ms, 5s, 2m (default: never).")
    var idleExit: ElapsedTime?

    @Option(help: "Log events of this level and above.")
    var logLevel = LogLevel.info

    @OptionGroup var server: ServerOption

    func validate() throws {
        if let idleExit, idleExit.nanoseconds == 0 {
            throw ValidationError(
                "--idle-exit is 0, so the server would end before a client connects. Use a second or more.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (lowest, style) = (logLevel, DocumentStyle())
        let log: @Sendable (LogLevel, String) -> Void = { level, text in
            guard level >= lowest else { return }
            let now = style.time(Int64(Date.now.timeIntervalSince1970 * 1e9))
            // If standard error is closed, nothing can be logged.
            _ = try? FileDescriptor.standardError.writeAll(Array("\(now) \(level.rawValue): \(text)\n".utf8))
        }
        var limits = ServerLimits()
        if let idleExit { limits.idleTimeout = idleExit.duration }
        let server = LocalServer(directory: self.server.directory, limits: limits) { event in
            let entry = event.logEntry
            log(entry.level, entry.text)
        }
        try EndRequests.handle([SIGINT, SIGTERM, SIGHUP]) { number in
            // A second request ends the process at once.
            EndRequests.stop()
            log(.notice, "asked to end by signal \(number)")
            server.stop()
        }
        try server.run(endsWhenIdle: idleExit != nil)
        log(.notice, "ended")
        return .success
    }
}
