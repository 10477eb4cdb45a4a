import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import SystemPackage

struct Wait: Command {
    static let configuration = CommandConfiguration(
        abstract: "Wait for one notification, in a script.",
        discussion: """
            Prints the one that came, as observe does. The line "waiting for NAME" on standard error says that from now on \
            none is missed; scripts ask for it with --ready-fd, or give the command that leads to the notification after --: \
            it is started when the registration is in effect. It goes on when the notification has come or the time has \
            passed; if it fails before that, the waiting ends.

            EXAMPLES
              notify-demo wait build-done --timeout 2m && ./deploy
              notify-demo wait server-ready --timeout 10s -- ./server --port 8080
              mkfifo ready; notify-demo wait build-done --ready-fd 3 3>ready &
              read <ready; ./start-build; wait $!

            EXIT STATUS
              0 it came, 1 the time has passed before it came, 2 the command failed, or the server can be neither reached nor \
            started, 130 ended by Ctrl-C
            """)

    @Argument(help: ArgumentHelp("The notification's name.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("Whose notification; without, anybody's.", valueName: "object"))
    var object: String?

    @Option(help: ArgumentHelp("Wait no longer than this: 200ms, 5s, 2m.", valueName: "duration"))
    var timeout: ElapsedTime?

    @Option(
        help: ArgumentHelp(
            "Write an empty line to this file descriptor, and close it, when the registration is in effect.",
            valueName: "number"))
    var readyFd: Int32?

    @Flag(help: "Print it as JSON.")
    var json = false

    @OptionGroup var place: PlaceOption

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("After --, a command to start, and its arguments.", valueName: "command"),
        completion: .shellCommand("compgen -c"))
    var command: [String] = []

    func validate() throws {
        try NotificationWords(name: name, object: object).validate()
        // Standard output has the notification, and standard error the talk.
        if let readyFd, readyFd < 3 || fcntl(readyFd, F_GETFD) < 0 {
            throw ValidationError(
                "--ready-fd is \(readyFd), and must be the number of an open file, 3 or more: --ready-fd 3 3>file")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        // Not for the server, which may be started now and would keep it open.
        if let readyFd { _ = fcntl(readyFd, F_SETFD, FD_CLOEXEC) }
        let observation = try Observation(
            name: name, object: object, behavior: .deliverImmediately, place: place.place,
            timeout: timeout?.duration)
        terminal.say("waiting for \(observation.description)")
        if let readyFd {
            let descriptor = FileDescriptor(rawValue: readyFd)
            // Who asked may have gone meanwhile; the notification may come nevertheless.
            _ = try? descriptor.writeAll([0x0A])
            try? descriptor.close()
        }
        if !command.isEmpty { try StartedCommand.start(command) { observation.interrupt($0) } }
        let style = ObservedEventStyle()
        let plan = ObservingPlan(count: 1, timeout: timeout?.duration)
        var isConnected = false
        let status = try observation.run(plan, &terminal) { event, terminal in
            switch event.kind {
            case .notification: try terminal.print(json ? JSONText.of(event) : style.line(for: event))
            case .connection(.connected) where !isConnected: isConnected = true
            case .connection(let event): terminal.say("notify-demo: \(ObservedEventStyle.text(of: event))")
            }
        } interrupted: { end, terminal in
            let how: String
            switch end {
            case .exit(0): return nil
            case .exit(let code): how = "failed with \(code)"
            case .signal(SIGINT):
                // Ctrl-C is for both, and which of them hears of it first is chance.
                try terminal.flush()
                EndRequest.end(by: SIGINT)
                return .error
            case .signal(let number): how = "was ended by signal \(number)"
            }
            terminal.say("notify-demo: \(command[0]) \(how), and \(name) has not come")
            return .error
        }
        if status == .failed { terminal.say("notify-demo: \(name) has not come within \(timeout?.description ?? "")") }
        return status
    }
}
