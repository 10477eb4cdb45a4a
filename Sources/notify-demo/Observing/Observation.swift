import ChildProcesses
import DistributedNotifications
import Foundation
import ThreadedNotifications

/// An observer on the main thread, for a command that runs the main thread's run loop.
struct Observation {
    enum End {
        /// As many as were asked for, or standard output was closed.
        case arrived
        case timedOut(missing: Int)
        case commandFailed(ChildProcess.End)
    }

    private let center: DistributedCenter
    private let timeout: Duration?
    private let events = Locked<[ObservedEvent]>([])
    private let commandEnd = Locked<ChildProcess.End?>(nil)
    /// Releasing the tokens would remove the observers.
    private let tokens: [ObserverToken]

    /// Registers the observer and waits until the server has registered it: for `timeout`, but at least 2 and at most 5
    /// seconds.
    init(_ name: String?, _ object: String?, in directory: ServerDirectory, timeout: Duration?) throws {
        center = try DistributedCenter(directory: directory)
        self.timeout = timeout
        let connection = center.addConnectionObserver(on: .main) { [events] event in
            events.withLock { $0.append(ObservedEvent(event)) }
        }
        let observer = try center.addObserver(
            forName: name.map { Notification.Name($0) }, object: object, suspensionBehavior: .deliverImmediately,
            on: .main
        ) { [events] notification in
            let sender = try? String(contentsOfFile: "/proc/\(notification.sender)/comm", encoding: .utf8)
            let event = ObservedEvent(
                notification, senderName: sender?.trimmingCharacters(in: .newlines), thread: .current)
            events.withLock { $0.append(event) }
        }
        tokens = [connection, observer]
        try center.synchronize(timeout: min(max(timeout ?? .seconds(5), .seconds(2)), .seconds(5)))
    }

    /// Observes until `count` notifications have arrived, the timeout has passed, the command has failed, or a request
    /// ends this process.
    ///
    /// - Parameters:
    ///   - command: it is started first, shares this process's standard streams, and keeps running afterwards.
    ///   - show: called with each event, in order.
    func run(
        count: Int?, _ command: [String], _ terminal: Terminal, show: (ObservedEvent) throws -> Void
    ) throws -> End {
        defer { center.close() }
        let deadline = SuspendingClock.Instant.after(timeout ?? .seconds(1_000_000_000))
        if let timeout { DispatchQueue.main.asyncAfter(deadline: .now() + timeout / .seconds(1)) {} }
        if !command.isEmpty { try start(command) }
        var missing = count ?? .max
        while true {
            for event in events.withLock({ events in
                defer { events = [] }
                return events
            }) {
                try show(event)
                if event.kind == .notification { missing -= 1 }
                if terminal.standardOutput.isClosed || missing == 0 { return .arrived }
            }
            if let failure = commandFailure { return .commandFailed(failure) }
            if SuspendingClock.now >= deadline { return .timedOut(missing: missing) }
            let end = MainActor.assumeIsolated {
                MainRunLoop.run(
                    until: {
                        !events.withLock(\.isEmpty) || commandFailure != nil || SuspendingClock.now >= deadline
                    }, stoppingOn: [SIGINT, SIGTERM, SIGHUP])
            }
            if case .signal(let number) = end {
                center.close()
                EndRequests.end(by: number)
            }
        }
    }

    /// How the command ended; nil if it runs or has succeeded.
    private var commandFailure: ChildProcess.End? { commandEnd.withLock { $0 == .exit(0) ? nil : $0 } }

    private func start(_ command: [String]) throws {
        let process = try ChildProgram(path: command[0], arguments: Array(command.dropFirst())).start()
        Thread.detachNewThread { [commandEnd] in
            let end = process.wait()
            commandEnd.withLock { $0 = end }
            // The main thread stops waiting.
            DispatchQueue.main.async {}
        }
    }
}
