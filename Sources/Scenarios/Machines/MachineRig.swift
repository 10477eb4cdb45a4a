internal import ChildProcesses
internal import ThreadedNotifications

/// Two machines around one NATS server, which they reach through a proxy. All of it ends with this value.
final class MachineRig {
    /// What differs from fault to fault.
    struct Setup {
        /// Not started.
        let hub: NATSHub
        /// Both machines post, and observe both.
        var isMutual = false
        var scheme = "nats"
        /// Arguments of the bridges.
        var bridge: [String] = ["--hold", NATSHub.stream]
        /// Of the second machine's bridge.
        var environment: [String: String?] = [:]
    }

    let hub: NATSHub
    let proxy: LoopbackProxy
    /// Posts.
    let one: Machine
    /// Observes.
    let two: Machine
    private let isMutual: Bool
    let tally = Locked(MachineTally())

    var machines: [Machine] { [one, two] }
    var posters: [Machine] { isMutual ? machines : [one] }
    var observers: [Machine] { isMutual ? machines : [two] }

    private static let bridge = Result { try ChildProgram.findBridge() }

    /// Which of the programs, which not everybody has, is missing, and how to get it.
    static var missing: String? {
        if case .failure(let error) = bridge { return NATSHub.missing ?? "\(error)" }
        return NATSHub.missing
    }

    init(timeout: Duration, _ prepare: (inout Setup) throws -> Void = { _ in }) throws {
        hub = try NATSHub(timeout: timeout)
        var setup = Setup(hub: hub)
        try prepare(&setup)
        isMutual = setup.isMutual
        try hub.start()
        proxy = try LoopbackProxy(to: hub.port)
        let words = [try Self.bridge.get(), "--nats", "\(setup.scheme)://127.0.0.1:\(proxy.port)"] + setup.bridge
        one = try Machine("one", hub, words)
        two = try Machine("two", hub, words, setup.environment)
        for machine in machines { try machine.startBridge() }
        for machine in machines { try machine.waitForBridge() }
        for machine in observers { try machine.observe(tally) }
    }

    func waitForAll() throws {
        tally.withLock { $0.posted = posters.reduce(0) { $0 + $1.posted } * observers.count }
        try hub.waitUntil("all posts are received, or in a gap") { tally.withLock { $0.isComplete } }
    }

    /// Runs a bridge of a third machine, which NATS has to refuse because of a file.
    func expectRefusalOfThird(_ option: String, _ file: String, saying text: String) throws {
        let own = ["--directory", "\(hub.path)/three", "--state", "\(hub.path)/three.state"]
        try two.expectRefusal(own + [option, "\(hub.path)/\(file)"], saying: text)
    }

    deinit { proxy.end() }
}
