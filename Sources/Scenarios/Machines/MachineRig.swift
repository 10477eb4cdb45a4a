internal import ChildProcesses
internal import ThreadedNotifications

/// Two machines around one NATS server, which they reach through a proxy. All of it ends with this value.
final class MachineRig {
    /// The parts that differ from fault to fault.
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

    private let setup: Setup
    let proxy: LoopbackProxy
    /// Posts.
    let one: Machine
    /// Observes.
    let two: Machine
    let tally = Locked(MachineTally())

    var hub: NATSHub { setup.hub }
    var machines: [Machine] { [one, two] }
    var posters: [Machine] { setup.isMutual ? machines : [one] }
    var observers: [Machine] { setup.isMutual ? machines : [two] }

    private static let bridge = Result { try ChildProgram.findBridge() }

    /// The program that is missing, and how to get it; nil if both are there.
    static var missing: String? {
        if case .failure(let error) = bridge { return NATSHub.missing ?? "\(error)" }
        return NATSHub.missing
    }

    init(timeout: Duration, _ prepare: (inout Setup) throws -> Void = { _ in }) throws {
        var setup = Setup(hub: try NATSHub(timeout: timeout))
        try prepare(&setup)
        try setup.hub.start()
        self.setup = setup
        proxy = try LoopbackProxy(to: setup.hub.port)
        let words = [try Self.bridge.get(), "--nats", "\(setup.scheme)://127.0.0.1:\(proxy.port)"] + setup.bridge
        one = try Machine("one", setup.hub, words)
        two = try Machine("two", setup.hub, words, setup.environment)
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
