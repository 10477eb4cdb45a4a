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

    /// Observes until the plan ends.
    ///
    /// - Parameters:
    ///   - show: called with each event, in order.
    ///   - commandEnded: returns the status to end with, or nil to continue.
    func run(
        _ plan: ObservingPlan, _ terminal: Terminal, show: (ObservedEvent) throws -> Void,
        commandEnded: (ChildProcess.End) throws -> ExitStatus? = { _ in nil }
    ) throws -> ExitStatus {
        defer { center.close() }
        var plan = plan
        let begun = SuspendingClock.now
        while true {
            for input in inputs.withLock({ inputs in
                defer { inputs = [] }
                return inputs
            }) {
                switch input {
                case .event(let event):
                    try show(event)
                    if case .notification = event.kind { plan.countNotification() }
                    if plan.isComplete { return .success }
                case .signal(let number):
                    try terminal.standardOutput.flush()
                    center.close()
                    EndRequests.end(by: number)
                case .commandEnded(let end):
                    if let status = try commandEnded(end) { return status }
                }
            }
            let elapsed = begun.duration(to: .now)
            switch plan.action(at: elapsed) {
            case .suspend:
                center.suspend()
                terminal.say("suspended")
            case .resume:
                center.resume()
                terminal.say("resumed")
            case .end(let status): return status
            case .wait(let time):
                guard inputs.withLock(\.isEmpty) else { continue }
                let end = time.map { Date(timeIntervalSinceNow: ($0 - elapsed) / .seconds(1)) } ?? .distantFuture
                _ = RunLoop.main.run(mode: .default, before: end)
            }
        }
    }
}

/// Decides when an observing command suspends delivery, resumes it and ends.
struct ObservingPlan {
    enum Action: Hashable {
        case suspend
        case resume
        case end(ExitStatus)
        /// Wait until this much time has passed since the registration, or for an event; nil: for an event only.
        case wait(until: Duration?)
    }

    /// The number of notifications to wait for.
    private let count: Int?
    private var received = 0
    /// The coming actions, and their times since the observer was registered.
    private var steps: [(time: Duration, action: Action)]

    /// - Parameter resumeAfter: how long delivery is suspended.
    init(count: Int? = nil, timeout: Duration? = nil, suspendAfter: Duration? = nil, resumeAfter: Duration? = nil) {
        self.count = count
        let resumeAt = suspendAfter.flatMap { begin in resumeAfter.map { begin + $0 } }
        let end = Action.end(count == nil ? .success : .failed)
        steps = [(suspendAfter, Action.suspend), (resumeAt, .resume), (timeout, end)]
            .compactMap { time, action in time.map { ($0, action) } }.sorted { $0.time < $1.time }
    }

    var isComplete: Bool { count.map { received >= $0 } ?? false }

    mutating func countNotification() { received += 1 }

    /// The next action. Each suspension and resumption is returned once. A late call returns the due ones in order.
    ///
    /// - Parameter elapsed: the time since the observer was registered.
    mutating func action(at elapsed: Duration) -> Action {
        if isComplete { return .end(.success) }
        guard let next = steps.first, elapsed >= next.time else { return .wait(until: steps.first?.time) }
        return steps.removeFirst().action
    }
}
