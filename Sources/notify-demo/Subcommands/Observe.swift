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

            Lost notifications have a line too: a gap gives their number and the cause (slow: this process read too \
            slowly; unreadable: a poster sent no property list; missing: lost on the way, for example between \
            machines); an interruption is the end of the server, with none.

            For scripts: the line "observing NAME" on standard error means that no later notification is missed. Then \
            the command after -- is started, which keeps running afterwards. If it fails before, the waiting ends.

            EXAMPLES
              notify-demo observe build-done -N 1 --timeout 2m && ./deploy
              notify-demo observe ready -N 1 --timeout 10s -- ./server --port 8080

            The status is 0 if -N notifications arrived, and 1 if the timeout passed first.
            """)

    @Argument(help: "The name to observe (default: any).")
    var name: String?

    @Option(help: "The object to observe (default: any).")
    var object: String?

    @Option(name: [.customShort("N"), .customLong("count")], help: "End after this many notifications.")
    var count: Int?

    @Option(help: "End after this time: 200ms, 5s, 2m.")
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
        try ValidationError.check("-N", count, from: 1, to: .max)
    }

    private enum Step {
        case event(ObservedEvent)
        case timeout
        case commandFailed(ChildProcess.End)
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let what = (name ?? "any notification") + (object.map { " of \($0)" } ?? "")
        let center = try DistributedCenter(directory: server.directory)
        defer { center.close() }
        // What has arrived on the main thread.
        let steps = Locked<[Step]>([])
        let add: @Sendable (Step) -> Void = { step in steps.withLock { $0.append(step) } }
        let tokens = [
            center.addConnectionObserver { add(.event(ObservedEvent($0))) },
            try center.addObserver(
                forName: name.map { Notification.Name($0) }, object: object, suspensionBehavior: .deliverImmediately
            ) { notification in
                let sender = try? String(contentsOfFile: "/proc/\(notification.sender)/comm", encoding: .utf8)
                add(.event(ObservedEvent(notification, senderName: sender?.trimmingCharacters(in: .newlines))))
            },
        ]
        defer { for token in tokens { token.cancel() } }
        // The timeout and the command begin when the server has registered the observer.
        try center.synchronize(timeout: min(max(timeout?.duration ?? .seconds(5), .seconds(2)), .seconds(5)))
        if let timeout { try MainThread.main.perform(after: timeout.duration) { add(.timeout) } }
        if !command.isEmpty {
            // It shares this process's standard streams and keeps running afterwards.
            let process = try ChildProgram(path: command[0], arguments: Array(command.dropFirst())).start()
            Thread.detachNewThread {
                let end = process.wait()
                if end != .exit(0) { try? MainThread.main.performLater { add(.commandFailed(end)) } }
            }
        }
        var (isConnected, missing) = (false, count ?? .max)
        while missing > 0, !terminal.standardOutput.isClosed {
            _ = MainActor.assumeIsolated { MainRunLoop.run(until: { steps.withLock { !$0.isEmpty } }) }
            switch steps.withLock({ $0.removeFirst() }) {
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
            case .commandFailed(let end):
                terminal.report("\(command[0]) ended with \(end), and \(what) has not arrived")
                return .error
            }
        }
        return .success
    }
}
