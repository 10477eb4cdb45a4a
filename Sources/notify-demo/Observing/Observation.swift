import ChildProcesses
import DistributedNotifications
import Foundation
import ThreadedNotifications

/// An observer on the main thread, for a command that runs the main thread's run loop.
struct Observation {
    private enum Input: Sendable {
        case event(ObservedEvent)
        case signal(Int32)
        case commandEnded(ChildProcess.End)
    }

    /// The observed name and object, for messages.
    let description: String
    private let center: DistributedCenter
    private let timeout: Duration?
    private let inputs = Locked<[Input]>([])
    /// Releasing the tokens would remove the observers.
    private let tokens: [ObserverToken]

    /// Registers the observer and waits until the server has registered it: for `timeout`, but at least 2 and at most 5
    /// seconds.
    init(name: String?, object: String?, behavior: SuspensionBehavior, directory: ServerDirectory, timeout: Duration?)
        throws
    {
        description = [name ?? "any notification", object.map { "of \($0)" }].compactMap(\.self).joined(separator: " ")
        center = try DistributedCenter(directory: directory)
        self.timeout = timeout
        let inputs = inputs
        try EndRequests.handle([SIGINT, SIGTERM, SIGHUP]) { number in
            // A second request ends the process at once, and so does the end of a second.
            EndRequests.stop()
            Self.interrupt(.signal(number), inputs)
            Thread.sleep(forTimeInterval: 1)
            EndRequests.end(by: number)
        }
        let connection = center.addConnectionObserver(on: .main) { event in
            inputs.withLock { $0.append(.event(ObservedEvent(kind: .connection(event)))) }
        }
        let observer = try center.addObserver(
            forName: name.map { Notification.Name($0) }, object: object, suspensionBehavior: behavior, on: .main
        ) { notification in
            let kind = ObservedEvent.Kind.notification(
                notification,
                senderName: (try? String(contentsOfFile: "/proc/\(notification.sender)/comm", encoding: .utf8))?
                    .trimmingCharacters(in: .newlines), thread: ThreadIdentity.current)
            inputs.withLock { $0.append(.event(ObservedEvent(kind: kind))) }
        }
        tokens = [connection, observer]
        try center.synchronize(timeout: min(max(timeout ?? .seconds(5), .seconds(2)), .seconds(5)))
    }

    /// Makes the main thread stop waiting.
    private static func interrupt(_ input: Input, _ inputs: Locked<[Input]>) {
        inputs.withLock { $0.append(input) }
        // A run of the main thread's run loop returns after a block.
        try? MainThread.main.perform {}
    }

    /// Starts a command that shares this process's standard streams. `run` calls its `commandEnded` when the command
    /// has ended. The command keeps running when the observation ends.
    ///
    /// - Throws: `ChildProcessError`.
    func start(_ command: [String]) throws {
        let process = try ChildProgram(path: command[0], arguments: Array(command.dropFirst())).start()
        Thread.detachNewThread { [inputs] in Self.interrupt(.commandEnded(process.wait()), inputs) }
    }

    /// Observes until `count` notifications have arrived, the timeout has passed, or the command ends it.
    ///
    /// - Parameters:
    ///   - suspensions: when delivery is suspended, and when it is resumed, since the observer was registered.
    ///   - show: called with each event, in order.
    ///   - commandEnded: returns the status to end with, or nil to continue.
    /// - Returns: failure if fewer than `count` have arrived within the timeout.
    func run(
        count: Int?, suspensions: (begin: Duration?, end: Duration?) = (nil, nil), _ terminal: Terminal,
        show: (ObservedEvent) throws -> Void, commandEnded: (ChildProcess.End) throws -> ExitStatus? = { _ in nil }
    ) throws -> ExitStatus {
        defer { center.close() }
        var steps: [(time: Duration, perform: () -> ExitStatus?)] = []
        func add(_ time: Duration?, _ step: @escaping () -> ExitStatus?) { if let time { steps.append((time, step)) } }
        add(suspensions.begin) {
            center.suspend()
            terminal.say("suspended")
            return nil
        }
        add(suspensions.end) {
            center.resume()
            terminal.say("resumed")
            return nil
        }
        add(timeout) { count == nil ? .success : .failed }
        steps.sort { $0.time < $1.time }
        let begun = SuspendingClock.now
        var received = 0
        while true {
            for input in inputs.withLock({ inputs in
                defer { inputs = [] }
                return inputs
            }) {
                switch input {
                case .event(let event):
                    try show(event)
                    if terminal.standardOutput.isClosed { return .success }
                    if case .notification = event.kind { received += 1 }
                    if received == count { return .success }
                case .signal(let number):
                    try terminal.standardOutput.flush()
                    center.close()
                    EndRequests.end(by: number)
                case .commandEnded(let end):
                    if let status = try commandEnded(end) { return status }
                }
            }
            let elapsed = begun.duration(to: .now)
            if let step = steps.first, elapsed >= step.time {
                steps.removeFirst()
                if let status = step.perform() { return status }
            } else if inputs.withLock(\.isEmpty) {
                let left = steps.first.map { ($0.time - elapsed) / .seconds(1) }
                _ = RunLoop.main.run(
                    mode: .default, before: left.map { Date(timeIntervalSinceNow: $0) } ?? .distantFuture)
            }
        }
    }
}
