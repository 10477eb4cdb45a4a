internal import ChildProcesses
internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// The server is killed while a process has suspended delivery. The client reports the interruption, starts a new
/// server and registers its observers again.
struct ServerRestartScenario: Scenario {
    let name = "server-restart"
    let summary = "the server is killed: clients reconnect and register again"
    let isTraced = false

    private static let suspended = "suspended"
    private static let killed = "killed the server"
    private static let connected = "connected to server "
    private static let interrupted = "interrupted"
    private static let resumed = "resumed"
    private static let handled = "handled "

    func run(in environment: ScenarioEnvironment) throws {
        let recorder = environment.recorder
        let connections = Locked(0)
        let watch: @Sendable (ConnectionEvent) -> Void = { event in
            switch event {
            case .interrupted: recorder.log(Self.interrupted)
            case .connected(let process):
                recorder.log(Self.connected + "\(process)")
                connections.withLock { $0 += 1 }
            case .gap(let gap): recorder.log("gap of \(gap.count)")
            case .failed(let error): recorder.log("\(error)")
            }
        }
        try TwoProcesses.perform(in: environment, watching: watch) { two in
            let server = try two.server
            let token = try two.center.addObserver(
                forName: TestNotification.foundationName, suspensionBehavior: .hold
            ) { recorder.log(Self.handled + DistributedPost.label(of: $0)) }
            try two.center.synchronize(timeout: two.timeout)

            try two.post([DistributedPost("1")])
            try two.handleAll()
            two.center.suspend()
            try two.center.synchronize(timeout: two.timeout)
            recorder.log(Self.suspended)
            try two.post([DistributedPost("2")])

            recorder.log(Self.killed)
            server.kill()
            guard server.waitUntilEnded(timeout: two.timeout) else {
                throw ScenarioError.timedOut(waitingFor: "the server's end", after: two.timeout)
            }
            try RunLoop.runCurrent(
                until: { connections.withLock { $0 } == 2 }, waitingFor: "a new server", timeout: two.timeout)
            _ = try two.server
            // Returns after the new server has registered the observers again.
            try two.center.synchronize(timeout: two.timeout)
            try two.post([DistributedPost("3")])
            try two.handleAll()

            recorder.log(Self.resumed)
            two.center.resume()
            try two.handleAll()
            try two.post([DistributedPost("4")])
            try two.handleAll()
            token.cancel()
        }
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let logs = records.filter { $0.thread.number == 1 }.logs
        func position(_ message: String) -> Int? { logs.firstIndex(of: message) }
        let servers = logs.filter { $0.hasPrefix(Self.connected) }
        let labels = logs.filter { $0.hasPrefix(Self.handled) }.map { String($0.dropFirst(Self.handled.count)) }
        let (killed, resumed) = (position(Self.killed) ?? .max, position(Self.resumed) ?? .max)
        let third = position(Self.handled + "3")
        return [
            Expectation(
                "the observer's process sees an interruption, then the new server",
                holds: logs.filter { $0 == Self.interrupted }.count == 1
                    && killed < position(Self.interrupted) ?? 0 && servers.count == 2
                    && position(Self.interrupted) ?? .max < position(servers.last ?? "") ?? 0,
                otherwise: "it saw \(logs)"),
            Expectation(
                "the new server is another process", holds: Set(servers).count == 2, otherwise: "\(servers)"),
            Expectation(
                "registered again: later posts are handled",
                holds: labels.contains("1") && labels.contains("3") && labels.contains("4"),
                otherwise: "handled \(labels)"),
            Expectation(
                "still suspended: the new server holds until resumption",
                holds: third.map { resumed < $0 } ?? false,
                otherwise: third == nil ? "it was not handled" : "it was handled before"),
            Expectation(
                "the notifications held by the old server are lost, with an event",
                holds: logs.contains(Self.interrupted) && !labels.contains("2"),
                otherwise: "it was handled, or there was no event"),
            Expectation(
                "handled at most once, in the order posted",
                holds: !labels.isEmpty && labels == Set(labels).sorted(), otherwise: "handled \(labels)"),
            Deliveries(records).expectOneOutcomeEach("each inbound notification has one outcome"),
        ]
    }
}
