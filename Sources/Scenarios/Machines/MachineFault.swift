internal import ChildProcesses
internal import Foundation

/// Something that goes wrong between two machines while one posts and the other observes.
struct MachineFault: Sendable {
    let name: String
    /// What it needs besides the programs; nil if that is there.
    var missing: @Sendable () -> String? = { nil }
    var loss = Loss.none
    /// Both machines post, and observe both.
    var isMutual = false
    var prepare: @Sendable (inout MachineRig.Setup) throws -> Void = { _ in }
    var begin: @Sendable (MachineRig) throws -> Void = { _ in }
    var end: @Sendable (MachineRig) throws -> Void = { _ in }

    /// Whether something is lost between the machines, which the gap has to say.
    enum Loss { case none, possible, certain }

    static let all = [
        MachineFault(name: "none"),
        MachineFault(name: "none, and nothing is held", loss: .possible, prepare: { $0.bridge = [] }),
        MachineFault(name: "none, and both post", isMutual: true, end: { try $0.expectNoLoop() }),
        MachineFault(name: "NATS is killed", begin: { $0.hub.kill() }, end: { try $0.hub.start() }),
        MachineFault(
            name: "both bridges are restarted",
            begin: { rig in for machine in [rig.one, rig.two] { try machine.stopBridge() } },
            end: { rig in for machine in [rig.one, rig.two] { try machine.startBridge() } }),
        MachineFault(
            name: "the poster's bridge is killed", begin: { $0.one.killBridge() }, end: { try $0.one.startBridge() }),
        MachineFault(
            name: "the observer's bridge is killed", begin: { $0.two.killBridge() }, end: { try $0.two.startBridge() }),
        MachineFault(
            name: "the poster's local server is killed", loss: .possible, begin: { try $0.one.killServer() },
            end: { try $0.one.waitForBridge() }),
        MachineFault(
            name: "the observer's local server is killed", loss: .possible, begin: { try $0.two.killServer() },
            end: { try $0.two.waitForBridge() }),
        MachineFault(
            name: "the network forwards nothing", prepare: { $0.way = .throughProxy },
            begin: { $0.proxy.set(.stops) }, end: { $0.proxy.set(.forwards) }),
        MachineFault(
            name: "the network drops connections", prepare: { $0.way = .throughProxy },
            begin: { $0.proxy.set(.drops) }, end: { $0.proxy.set(.forwards) }),
        MachineFault(
            name: "both bridges are stopped",
            begin: { rig in for machine in [rig.one, rig.two] { machine.bridge?.kill(SIGSTOP) } },
            end: { rig in for machine in [rig.one, rig.two] { machine.bridge?.kill(SIGCONT) } }),
        MachineFault(
            name: "the stream is full", loss: .certain, prepare: { $0.streamLimit = 100 },
            begin: { $0.two.killBridge() },
            end: { rig in
                try rig.one.waitUntilPublished()
                try rig.two.startBridge()
            }),
        MachineFault(
            name: "a second bridge on a machine", begin: { try $0.two.expectRefusal(saying: "only one may be") }),
        MachineFault(
            name: "a bridge has wrong credentials",
            prepare: { setup in
                setup.hub += ["--user", "rig", "--pass", "right"]
                setup.bridge += ["--credentials", try setup.write("rig:right\n", to: "credentials")]
                _ = try setup.write("rig:wrong\n", to: "wrong")
            },
            begin: {
                try $0.expectRefusal(["--credentials", "\($0.directory)/wrong"], saying: "check the credentials")
            }),
        MachineFault(
            name: "NATS has a wrong certificate", missing: { Certificates.missing },
            prepare: { setup in
                try Certificates.make(in: setup.directory)
                setup.scheme = "tls"
                setup.hub += [
                    "--tls", "--tlscert", "\(setup.directory)/hub.pem", "--tlskey", "\(setup.directory)/hub.key",
                ]
                setup.bridge += ["--tls-roots", "\(setup.directory)/hub.pem"]
            },
            begin: { try $0.expectRefusal(["--tls-roots", "\($0.directory)/other.pem"], saying: "not signed") }),
        MachineFault(
            name: "the clocks differ by a day", missing: { FalseClock.missing }, prepare: FalseClock.prepare,
            end: { $0.two.bridge.map(FalseClock.cleanUp) }),
        MachineFault(
            name: "NATS answers garbage", prepare: { $0.way = .throughProxyOrDirect },
            begin: { $0.proxy.set(.writesGarbage) }),
    ]
}

extension MachineRig.Setup {
    /// - Returns: the path of a private file.
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
        return "\(directory)/\(name)"
    }
}

extension MachineRig {
    /// Runs a bridge of a third machine, which NATS or the bridge has to refuse.
    func expectRefusal(_ more: [String], saying text: String) throws {
        let own = ["--directory", "\(directory)/three", "--state", "\(directory)/three.state"]
        try two.expectRefusal(own + more, saying: text)
    }

    /// Expects that only posts of this machine and user were published.
    func expectNoLoop() throws {
        for machine in [one, two] { try machine.waitUntilPublished() }
        let answer = try hub.ask("STREAM.INFO.\(Self.stream)")
        guard answer.contains("\"messages\":\(one.posted + two.posted),") else {
            throw ScenarioError.machines(problem: "a loop: of \(one.posted + two.posted) posts, \(answer)")
        }
    }
}

/// Certificates that openssl makes.
enum Certificates {
    static var missing: String? {
        MachinePrograms.find("openssl") == nil ? "openssl is not in PATH: apt-get install openssl" : nil
    }

    /// Makes `hub.pem`, `hub.key` and a certificate of another server, `other.pem`.
    static func make(in directory: String) throws {
        for name in ["hub", "other"] {
            let result = try ChildProgram(path: "openssl").run(
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    "\(directory)/\(name).key", "-out", "\(directory)/\(name).pem",
                ], timeout: .seconds(20))
            guard result.end == .exit(0) else { throw ScenarioError.machines(problem: "openssl: \(result.errors)") }
        }
    }
}

/// Another time of day for a bridge, by Debian's package libfaketime.
enum FalseClock {
    private static let library: String? = {
        let directories = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return directories.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
            .first { FileManager.default.fileExists(atPath: $0) }
    }()

    static var missing: String? {
        library == nil ? "libfaketime is not installed: apt-get install libfaketime" : nil
    }

    @Sendable static func prepare(_ setup: inout MachineRig.Setup) {
        // The library changes the environment when it is first loaded, and a Swift program finds no arguments then.
        setup.wrapper = ["sh", "-c", "exec \"$0\" \"$@\""]
        setup.environment = ["LD_PRELOAD": library, "FAKETIME": "+1d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
    }

    /// Removes what the library leaves.
    static func cleanUp(_ process: ChildProcess) {
        for name in ["faketime_shm_", "sem.faketime_sem_"] { unlink("/dev/shm/\(name)\(process.id)") }
    }
}
