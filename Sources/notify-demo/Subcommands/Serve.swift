import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import Logging
import NotificationServer

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
              notify-demo serve --directory /tmp/mine
              systemctl --user enable --now distributed-notifications.socket

            EXIT STATUS
              0 told to end, or idle for as long as --idle-exit says; 2 the directory cannot be used, or another \
            server serves there
            """)

    @Option(
        help: ArgumentHelp(
            "End after this time without a client: 200ms, 5s, 2m (default: never).", valueName: "duration"))
    var idleExit: ElapsedTime?

    /// The levels of swift-log, by their names.
    enum LogLevel: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    @Option(help: "Log events of this level and above.")
    var logLevel = LogLevel.info

    @OptionGroup var place: PlaceOption

    func validate() throws {
        if let idleExit, idleExit.nanoseconds == 0 {
            throw ValidationError(
                "--idle-exit is 0, so the server would end before a client connects. Use a second or more.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        var logger = Logger(label: "notify-demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = Logger.Level(rawValue: logLevel.rawValue) ?? .info
        var limits = ServerLimits()
        if let idleExit { limits.idleTimeout = idleExit.duration }
        let server = LocalServer(place: place.place, limits: limits) { [logger] event in
            let entry = event.logEntry
            logger.log(level: entry.level, "\(entry.message)", metadata: entry.metadata)
        }
        try EndRequests.handle([SIGINT, SIGTERM, SIGHUP]) { [logger] number in
            // A second request ends the process at once.
            EndRequests.stop()
            logger.notice("asked to end", metadata: ["signal": "\(number)"])
            server.stop()
        }
        try server.run(endsWhenIdle: idleExit != nil)
        logger.notice("ended")
        return .success
    }
}
