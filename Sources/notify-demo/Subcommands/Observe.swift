import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications

struct Observe: Command {
    static let configuration = CommandConfiguration(
        abstract: "Print the notifications that this user's processes post, or wait for some.",
        discussion: """
            Prints a line for each: the time, the process that posted it (its name, if it is still running, and its \
            id as the kernel reports it), the thread on which it was delivered, its name, object and userInfo:
              2026-11-21 16:14:57.940 make[4711] → 1 main: done of "Soup" with {"n":3}

            Lost notifications have a line too: a gap gives their number and the cause; an interruption is the end of \
            the server, after which the number is unknown. With --json, each line is an object: kind is notification, \
            gap, interrupted, connected or failed.

            For scripts: the line "observing NAME" on standard error means that no later notification is missed. Then \
            the command after -- is started, which keeps running afterwards. If it fails before, the waiting ends.

            EXAMPLES
              notify-demo observe build-done --object Kitchen
              notify-demo observe build-done -N 1 --timeout 2m && ./deploy
              notify-demo observe ready -N 1 --timeout 10s -- ./server --port 8080
              notify-demo observe --json | jq -r 'select(.kind == "gap").count'

            EXIT STATUS
              0    -N notifications arrived, or, without -N, the timeout
                   passed
              1    the timeout passed first
              2    the command failed, or the server cannot be reached or
                   started
              130  interrupted by Ctrl-C
            """)

    @Argument(help: "The name to observe (default: any).")
    var name: String?

    @Option(help: "The object to observe (default: any).")
    var object: String?

    @Option(name: [.customShort("N"), .customLong("count")], help: "End after this many notifications.")
    var count: Int?

    @Option(help: "End after this time: 200ms, 5s, 2m.", transform: ElapsedTime.argument)
    var timeout: ElapsedTime?

    @Flag(help: "Print each line as JSON.")
    var json = false

    @OptionGroup var server: ServerOption

    @Argument(
        parsing: .postTerminator, help: "After --, a command to start, and its arguments.",
        completion: .file())
    var command: [String] = []

    func validate() throws {
        try ValidationError.check { try DistributedCenter.check(name: name, object: object) }
        try ValidationError.check("-N", count, from: 1)
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let what = (name ?? "any notification") + (object.map { " of \($0)" } ?? "")
        let center = try DistributedCenter(directory: server.directory)
        defer { center.close() }
        let observation = try Observation(of: name, object, by: center, timeout: timeout?.duration, command)
        var isConnected = false
        var missing = count ?? .max
        while missing > 0, !terminal.standardOutput.isClosed {
            switch observation.next() {
            case .event(let event):
                if let server = event.serverProcess, !isConnected {
                    isConnected = true
                    terminal.say("observing \(what), connected to server \(server)")
                } else {
                    try terminal.print(json ? JSONText.of(event) : event.line())
                    try terminal.standardOutput.flush()
                }
                if event.kind == .notification { missing -= 1 }
            case .timeout:
                guard let count else { return .success }
                terminal.report(
                    "\(count - missing) of \(count) notifications arrived within \(timeout?.description ?? "")")
                return .failed
            case .request(let number):
                center.close()
                EndRequests.end(by: number)
            // Ctrl-C was for this process too; the command happened to end first.
            case .commandFailed(.signal(SIGINT)): EndRequests.end(by: SIGINT)
            case .commandFailed(let end):
                terminal.report("\(command[0]) ended with \(end), and \(what) has not arrived")
                return .error
            }
        }
        return .success
    }
}

/// An observer on the main thread. It keeps what has arrived until `next`.
@MainActor
private final class Observation {
    enum Step {
        case event(ObservedEvent)
        case timeout
        case commandFailed(ChildProcess.End)
        /// A request to end this process.
        case request(Int32)
    }

    private var events: ArraySlice<ObservedEvent> = []
    /// Why nothing more is waited for.
    private var end: Step?
    private var tokens: [ObserverToken] = []

    /// Registers the observer and waits until the server has registered it: for `timeout`, but at least 2 and at most 5
    /// seconds. Then the timeout begins, and the command is started, if there is one. It shares this process's standard
    /// streams and keeps running afterwards.
    nonisolated convenience init(
        of name: String?, _ object: String?, by center: DistributedCenter, timeout: Duration?, _ command: [String]
    ) throws {
        self.init()
        try MainActor.assumeIsolated {
            tokens = [
                center.addConnectionObserver { [unowned self] in events.append(ObservedEvent($0)) },
                try center.addObserver(
                    forName: name.map { Notification.Name($0) }, object: object, suspensionBehavior: .deliverImmediately
                ) { [unowned self] in events.append(ObservedEvent($0)) },
            ]
            try center.synchronize(timeout: min(max(timeout ?? .seconds(5), .seconds(2)), .seconds(5)))
            if let timeout { try MainThread.main.perform(after: timeout) { [self] in end = end ?? .timeout } }
        }
        if command.isEmpty { return }
        let process = try ChildProgram(path: command[0], arguments: Array(command.dropFirst())).start()
        Thread.detachNewThread {
            let end = process.wait()
            if end == .exit(0) { return }
            try? MainThread.main.performLater { self.end = self.end ?? .commandFailed(end) }
        }
    }

    nonisolated private init() {}

    /// Waits for an event, or the reason to end.
    nonisolated func next() -> Step {
        MainActor.assumeIsolated {
            if events.isEmpty, end == nil {
                let reason = MainRunLoop.run(
                    until: { !events.isEmpty || end != nil }, stoppingOn: [SIGINT, SIGTERM, SIGHUP])
                if case .signal(let number) = reason { end = .request(number) }
            }
            return events.popFirst().map { .event($0) } ?? end ?? .timeout
        }
    }
}
