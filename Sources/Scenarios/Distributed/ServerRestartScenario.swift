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
        let (hasConnected, hasReconnected) = (Gate("the server"), Gate("a new server"))
        let watch: @Sendable (ConnectionEvent) -> Void = { event in
            switch event {
            case .interrupted: recorder.log(Self.interrupted)
            case .connected(let process):
                recorder.log(Self.connected + "\(process)")
                (hasConnected.isOpen ? hasReconnected : hasConnected).open()
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
            try hasReconnected.runLoop(timeout: two.timeout)
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
        let labels = run.logs.filter { $0.hasPrefix(Self.handled) }
        func handled(_ label: String) -> DeliveryRecord? { run.first(Self.handled + label) }
        let interruption = run.first(Self.interrupted)
        return [
            run.expectOrder(
                "the observer's process sees an interruption, then the new server", run.first(Self.killed),
                interruption, servers.last, and: run.all(Self.interrupted).count == 1 && servers.count == 2),
            .equal("the new server is another process", Set(servers.map(\.message)).count, 2),
            run.expectOrder("registered again: later posts are handled", handled("1"), handled("3"), handled("4")),
            run.expectOrder(
                "still suspended: the new server holds until resumption", run.first("resumed"), handled("3")),
            run.expectOrder(
                "the notifications held by the old server are lost, with an event", interruption,
                and: handled("2") == nil),
            run.expectOrder(
                "handled at most once, in the order posted", handled("1"), and: labels == Set(labels).sorted()),
            run.expectOneOutcomeEach("each inbound notification has one outcome"),
        ]
    }
}
