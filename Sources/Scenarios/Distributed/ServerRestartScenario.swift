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

    private static let killed = "killed the server"
    private static let connected = "connected to server "
    private static let interrupted = "interrupted"
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
            let token = try two.center.addObserver(forName: .test, suspensionBehavior: .hold) {
                recorder.log(Self.handled + DistributedPost.label(of: $0))
            }
            try two.center.synchronize(timeout: two.timeout)

            try two.post(["1"])
            try two.suspend()
            try two.post(["2"])

            recorder.log(Self.killed)
            try two.killServer()
            try RunLoop.runCurrent(
                until: { connections.withLock { $0 } == 2 }, waitingFor: "a new server", timeout: two.timeout)
            // Returns after the new server has registered the observers again.
            try two.center.synchronize(timeout: two.timeout)
            try two.post(["3"])

            try two.resume()
            try two.post(["4"])
            token.cancel()
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let servers = run.all(.log).filter { $0.message?.hasPrefix(Self.connected) == true }
        let labels = run.logs.filter { $0.hasPrefix(Self.handled) }.map { String($0.dropFirst(Self.handled.count)) }
        let interruption = run.first(Self.interrupted)
        return [
            run.expectOrder(
                "the observer's process sees an interruption, then the new server", run.first(Self.killed),
                interruption, servers.last, and: run.all(Self.interrupted).count == 1 && servers.count == 2),
            Expectation(
                "the new server is another process", holds: Set(servers.map(\.message)).count == 2,
                otherwise: "\(servers.compactMap(\.message))"),
            Expectation(
                "registered again: later posts are handled", holds: Set(labels).isSuperset(of: ["1", "3", "4"]),
                otherwise: "handled \(labels)"),
            run.expectOrder(
                "still suspended: the new server holds until resumption", run.first("resumed"),
                run.first(Self.handled + "3")),
            Expectation(
                "the notifications held by the old server are lost, with an event",
                holds: interruption != nil && !labels.contains("2"),
                otherwise: "it was handled, or there was no event"),
            Expectation(
                "handled at most once, in the order posted",
                holds: !labels.isEmpty && labels == Set(labels).sorted(), otherwise: "handled \(labels)"),
            run.expectOneOutcomeEach("each inbound notification has one outcome"),
        ]
    }
}
