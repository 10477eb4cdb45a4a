internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// The server is killed while a process has suspended delivery: the interruption is seen, and the rest is as before.
struct ServerRestartScenario: Scenario {
    let name = "server-restart"
    let summary = "the server is killed: all is seen, and registered again"

    private static let suspended = "suspended"
    private static let killed = "killed the server"
    private static let connected = "connected to server "
    private static let interrupted = "interrupted"
    private static let resumed = "resumed"
    private static let handled = "handled "

    func perform(in environment: ScenarioEnvironment) throws {
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
            try two.center.synchronize(limit: two.limit)

            try two.post([DistributedPost("1")])
            try two.handleAll()
            two.center.isSuspended = true
            try two.center.synchronize(limit: two.limit)
            recorder.log(Self.suspended)
            try two.post([DistributedPost("2")])

            recorder.log(Self.killed)
            server.kill()
            guard server.waitUntilEnded(limit: two.limit) else {
                throw ScenarioError.timedOut(waitingFor: "the server's end", after: two.limit)
            }
            try RunLoop.runCurrent(
                until: { connections.withLock { $0 } == 2 }, waitingFor: "a new server", limit: two.limit)
            _ = try two.server
            // What was observed before is registered again when this returns.
            try two.center.synchronize(limit: two.limit)
            try two.post([DistributedPost("3")])
            try two.handleAll()

            recorder.log(Self.resumed)
            two.center.isSuspended = false
            try two.handleAll()
            try two.post([DistributedPost("4")])
            try two.handleAll()
            token.cancel()
        }
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let logs = records.filter { $0.stage == .log && $0.thread.number == 1 }.compactMap(\.message)
        func place(_ message: String) -> Int? { logs.firstIndex(of: message) }
        let servers = logs.filter { $0.hasPrefix(Self.connected) }
        let labels = logs.filter { $0.hasPrefix(Self.handled) }.map { String($0.dropFirst(Self.handled.count)) }
        let (killed, resumed) = (place(Self.killed) ?? .max, place(Self.resumed) ?? .max)
        let third = place(Self.handled + "3")
        return [
            Expectation(
                "the observer's process sees an interruption, then the new server",
                holds: logs.filter { $0 == Self.interrupted }.count == 1
                    && killed < place(Self.interrupted) ?? 0 && servers.count == 2
                    && place(Self.interrupted) ?? .max < place(servers.last ?? "") ?? 0,
                otherwise: "it saw \(logs)"),
            Expectation(
                "the new server is another process", holds: Set(servers).count == 2, otherwise: "\(servers)"),
            Expectation(
                "registered again: what is posted later is handled",
                holds: labels.contains("1") && labels.contains("3") && labels.contains("4"),
                otherwise: "handled \(labels)"),
            Expectation(
                "suspended still: held by the new server until resumption",
                holds: third.map { resumed < $0 } ?? false,
                otherwise: third == nil ? "it was not handled" : "it was handled before"),
            Expectation(
                "what the old server held is lost, as an interruption says",
                holds: !logs.isEmpty && !labels.contains("2"),
                otherwise: "it was handled, or nothing was said"),
            Expectation(
                "handled at most once, in the order posted",
                holds: !labels.isEmpty && labels == Set(labels).sorted(), otherwise: "handled \(labels)"),
            Deliveries(records).expectOneFateEach("each arrival has one fate"),
        ]
    }
}
