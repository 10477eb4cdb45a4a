internal import ChildProcesses

/// Two machines around one NATS server, which they reach through a proxy. All of it ends with this value.
final class MachineRig {
    /// What differs from fault to fault.
    struct Setup {
        let directory: RigDirectory
        var path: String { directory.path }
        var scheme = "nats"
        /// Arguments of nats-server.
        var hub: [String] = []
        /// Arguments of the bridges.
        var bridge: [String] = ["--hold", NATSHub.stream]
        /// The words before the command of the second machine's bridge.
        var wrapper: [String] = []
    }

    let directory: RigDirectory
    let hub: NATSHub
    let proxy: LoopbackProxy
    /// Posts.
    let one: Machine
    /// Observes.
    let two: Machine

    var machines: [Machine] { [one, two] }

    private static let nats = ChildProgram.find("nats-server", more: ["/usr/sbin", "/usr/local/sbin"])
    private static let bridge = Result { try ChildProgram.findBridge() }

    /// Which of the programs, which not everybody has, is missing, and how to get it.
    static var missing: String? {
        if nats == nil { return "there is no nats-server in PATH: apt-get install nats-server" }
        if case .failure(let error) = bridge { return "\(error)" }
        return nil
    }

    init(timeout: Duration, _ prepare: (inout Setup) throws -> Void = { _ in }) throws {
        directory = try RigDirectory(timeout: timeout)
        var setup = Setup(directory: directory)
        try prepare(&setup)
        hub = try NATSHub(Self.nats ?? "nats-server", in: directory, setup.hub)
        proxy = try LoopbackProxy(to: hub.port)
        let url = "\(setup.scheme)://127.0.0.1:\(proxy.port)"
        let words = [try Self.bridge.get(), "--nats", url] + setup.bridge
        one = try Machine("one", in: directory, words)
        two = try Machine("two", in: directory, setup.wrapper + words)
        for machine in machines { try machine.startBridge() }
        for machine in machines { try machine.waitForBridge() }
        try two.observe()
    }

    /// Runs a bridge of a third machine, which NATS has to refuse.
    func expectRefusal(_ more: [String], saying text: String) throws {
        let own = ["--directory", "\(directory.path)/three", "--state", "\(directory.path)/three.state"]
        try two.expectRefusal(own + more, saying: text)
    }

    deinit { proxy.end() }
}
