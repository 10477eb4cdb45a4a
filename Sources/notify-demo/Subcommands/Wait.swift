import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import DistributedNotifications
import Foundation

struct Wait: Command {
    static let configuration = CommandConfiguration(
        abstract: "Wait for one notification, for scripts.",
        discussion: """
            Prints the notification as observe does. The line "waiting for NAME" on standard error means that the \
            observer is registered, so no later notification is missed. The command after -- leads to the \
            notification. It is started when the observer is registered, and keeps running when the notification \
            arrives or the timeout passes. If it fails before, the waiting ends.

            EXAMPLES
              notify-demo wait build-done --timeout 2m && ./deploy
              notify-demo wait server-ready --timeout 10s -- ./server --port 8080

            EXIT STATUS
              0 it arrived, 1 the timeout passed first, 2 the command failed, or the server cannot be reached or \
            started, 130 ended by Ctrl-C
            """)

    @Argument(help: "The name to wait for.")
    var name: String

    @Option(help: "The object to wait for (default: any).")
    var object: String?

    @Option(duration: "The longest time to wait: 200ms, 5s, 2m.")
    var timeout: ElapsedTime?

    @Flag(help: "Print the notification as JSON.")
    var json = false

    @OptionGroup var server: ServerOption

    @Argument(
        parsing: .postTerminator, help: "After --, a command to start, and its arguments.",
        completion: .file())
    var command: [String] = []

    func validate() throws { try ValidationError.check { try DistributedCenter.check(name: name, object: object) } }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let observation = try Observation(
            name: name, object: object, behavior: .deliverImmediately, directory: server.directory,
            timeout: timeout?.duration)
        terminal.say("waiting for \(observation.description)")
        if !command.isEmpty { try observation.start(command) }
        var isConnected = false
        let status = try observation.run(count: 1, terminal) { event in
            switch event.kind {
            case .notification: try terminal.print(json ? JSONText.of(event) : event.line())
            case .connection(.connected) where !isConnected: isConnected = true
            case .connection(let event): terminal.report(ObservedEvent.text(of: event))
            }
        } commandEnded: { end in
            let how: String
            switch end {
            case .exit(0), .timedOut: return nil
            case .exit(let code): how = "failed with \(code)"
            case .signal(SIGINT):
                // Ctrl-C was for this process too; the command happened to end first.
                try terminal.standardOutput.flush()
                EndRequests.end(by: SIGINT)
                return .error
            case .signal(let number): how = "was ended by signal \(number)"
            }
            terminal.report("\(command[0]) \(how), and \(name) has not arrived")
            return .error
        }
        if status == .failed { terminal.report("\(name) has not arrived within \(timeout?.description ?? "")") }
        return status
    }
}
