internal import ChildProcesses
internal import Foundation
internal import ThreadedNotifications

/// Something that goes wrong between two machines while one posts and the other observes.
struct MachineFault: Sendable {
    let name: String
    /// A program or library that it needs, and how to get it; nil if it is there.
    var missing: String?
    var loss = Loss.none
    var prepare: @Sendable (inout MachineRig.Setup) throws -> Void = { _ in }
    var begin: @Sendable (MachineRig) throws -> Void = { _ in }
    var end: @Sendable (MachineRig) throws -> Void = { _ in }

    /// Losses between the machines. The gap has their number.
    enum Loss { case none, possible, certain }

    static let all = [
        MachineFault(name: "none, and both post", prepare: { $0.isMutual = true }),
        MachineFault(name: "none, and nothing is held", loss: .possible, prepare: { $0.bridge = [] }),
        MachineFault(name: "NATS is killed", begin: { $0.hub.kill() }, end: { try $0.hub.start() }),
        each("both bridges are restarted", \.machines, { try $0.endBridge(SIGTERM) }, { try $0.startBridge() }),
        each("both bridges are stopped", \.machines, { $0.bridge?.kill(SIGSTOP) }, { $0.bridge?.kill(SIGCONT) }),
        each("the poster's bridge is killed", \.posters, { try $0.endBridge() }, { try $0.startBridge() }),
        each("the observer's bridge is killed", \.observers, { try $0.endBridge() }, { try $0.startBridge() }),
        each(
            "the poster's local server is killed", \.posters, { try $0.killServer() }, { try $0.waitForBridge() },
            loss: .possible),
        each(
            "the observer's local server is killed", \.observers, { try $0.killServer() }, { try $0.waitForBridge() },
            loss: .possible),
        network("the network forwards nothing", .stops), network("the network drops connections", .drops),
        network("NATS answers garbage", .garbles),
        MachineFault(
            name: "the stream is full", loss: .certain,
            begin: { rig in
                try rig.two.endBridge()
                try rig.hub.limitStream(messages: 100)
            },
            end: { rig in
                try rig.one.waitUntilPublished()
                try rig.two.startBridge()
            }),
        MachineFault(
            name: "a second bridge on a machine", begin: { try $0.two.expectRefusal(saying: "only one may be") }),
        MachineFault(
            name: "a bridge has wrong credentials",
            prepare: { setup in
                try setup.hub.shell("echo rig:right >right; echo rig:wrong >wrong")
                setup.hub.arguments += ["--user", "rig", "--pass", "right"]
                setup.bridge += ["--credentials", "\(setup.hub.path)/right"]
            },
            begin: { try $0.expectRefusalOfThird("--credentials", "wrong", saying: "credentials") }),
        MachineFault(
            name: "NATS has a wrong certificate",
            missing: ChildProgram.find("openssl") == nil ? "there is no openssl in PATH: apt-get install openssl" : nil,
            prepare: { setup in
                let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -addext subjectAltName=IP:127.0.0.1"
                let make = "openssl req -x509 \(key) -subj /CN=$name -keyout $name.key -out $name.pem"
                try setup.hub.shell("for name in hub other; do \(make); done")
                setup.scheme = "tls"
                let path = "\(setup.hub.path)/hub"
                setup.hub.arguments += ["--tls", "--tlscert", "\(path).pem", "--tlskey", "\(path).key"]
                setup.bridge += ["--tls-roots", "\(path).pem"]
            }, begin: { try $0.expectRefusalOfThird("--tls-roots", "other.pem", saying: "not signed") }),
        MachineFault(
            name: "the clocks differ by a day",
            missing: falseClock == nil ? "libfaketime is not installed: apt-get install libfaketime" : nil,
            prepare: { setup in
                // The library changes the environment when it is first loaded, and a Swift program finds no arguments
                // then: here it is first loaded by the shell.
                setup.environment = ["LD_PRELOAD": falseClock, "FAKETIME": "+1d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
            },
            // The library leaves these files.
            end: { try $0.hub.shell("rm -f /dev/shm/*faketime_*_$0", ["\($0.two.bridge?.id ?? 0)"]) }),
    ]

    /// So many are posted before, during and after the fault, together.
    ///
    /// - Returns: as promised, skipped, or what is not as promised.
    func run(posts: Int, timeout: Duration) -> (tally: MachineTally, result: String) {
        var tally = MachineTally()
        if let missing { return (tally, MachinesScenario.skipped + missing) }
        do {
            let rig = try MachineRig(timeout: timeout, prepare)
            defer { tally = rig.tally.withLock { $0 } }
            try run(posts, rig)
        } catch {
            let isSkipped = "\(error)".contains("BRIDGE=tls")
            let reason = "the bridge is built without TLS: BRIDGE=tls swift build"
            return (tally, isSkipped ? MachinesScenario.skipped + reason : "\(error)")
        }
        return (tally, tally.problem(loss) ?? MachinesScenario.asPromised)
    }

    private func run(_ posts: Int, _ rig: MachineRig) throws {
        func post(_ count: Int) throws { for index in 0..<count { try rig.posters[index % rig.posters.count].post() } }
        // The observer does not learn of losses before its first post.
        try post(rig.posters.count)
        try rig.waitForAll()
        let (before, during) = (posts * 2 / 5, posts / 2)
        try post(before)
        try begin(rig)
        try post(during)
        try end(rig)
        for machine in rig.machines { try machine.synchronize() }
        // A loss is found when a later one arrives.
        try post(max(rig.posters.count, posts - rig.posters.count - before - during))
        try rig.waitForAll()
        if rig.posters.count > 1 { for machine in rig.machines { try machine.expectNoLoop() } }
    }

    /// Of each of these machines.
    private static func each(
        _ name: String, _ machines: @escaping @Sendable (MachineRig) -> [Machine],
        _ begin: @escaping @Sendable (Machine) throws -> Void, _ end: @escaping @Sendable (Machine) throws -> Void,
        loss: Loss = .none
    ) -> MachineFault {
        MachineFault(
            name: name, loss: loss, begin: { try machines($0).forEach(begin) }, end: { try machines($0).forEach(end) })
    }

    private static func network(_ name: String, _ behavior: LoopbackProxy.Behavior) -> MachineFault {
        MachineFault(name: name, begin: { $0.proxy.behavior = behavior }, end: { $0.proxy.behavior = .forwards })
    }

    /// The library of Debian's package libfaketime, which gives a program another time of day.
    private static let falseClock: String? = {
        let directories = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return directories.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
            .first(where: FileManager.default.fileExists)
    }()
}
