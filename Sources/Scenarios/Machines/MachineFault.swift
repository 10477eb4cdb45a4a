internal import ChildProcesses
internal import Foundation

/// Something that goes wrong between two machines while one posts and the other observes.
struct MachineFault: Sendable {
    let name: String
    /// What it needs besides the programs; nil if that is there.
    var missing: String?
    var loss = Loss.none
    /// Both machines post, and observe both.
    var isMutual = false
    var prepare: @Sendable (inout MachineRig.Setup) throws -> Void = { _ in }
    var begin: @Sendable (MachineRig) throws -> Void = { _ in }
    var end: @Sendable (MachineRig) throws -> Void = { _ in }

    /// Whether something is lost between the machines, which the gap has to say.
    enum Loss { case none, possible, certain }

    static let all = [
        MachineFault(name: "none, and both post", isMutual: true),
        MachineFault(name: "none, and nothing is held", loss: .possible, prepare: { $0.bridge = [] }),
        MachineFault(name: "NATS is killed", begin: { $0.hub.kill() }, end: { try $0.hub.start() }),
        MachineFault(
            name: "both bridges are restarted",
            begin: { for machine in $0.machines { try machine.endBridge(SIGTERM) } },
            end: { for machine in $0.machines { try machine.startBridge() } }),
        MachineFault(
            name: "both bridges are stopped",
            begin: { for machine in $0.machines { machine.bridge?.kill(SIGSTOP) } },
            end: { for machine in $0.machines { machine.bridge?.kill(SIGCONT) } }),
        bridgeIsKilled("the poster's bridge is killed") { $0.one },
        bridgeIsKilled("the observer's bridge is killed") { $0.two },
        serverIsKilled("the poster's local server is killed") { $0.one },
        serverIsKilled("the observer's local server is killed") { $0.two },
        networkFails("the network forwards nothing", .stops),
        networkFails("the network drops connections", .drops),
        networkFails("NATS answers garbage", .garbles),
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
                try setup.directory.shell("cd $0; echo rig:right >right; echo rig:wrong >wrong", [setup.path])
                setup.hub += ["--user", "rig", "--pass", "right"]
                setup.bridge += ["--credentials", "\(setup.path)/right"]
            },
            begin: { try $0.restartBridge(with: "--credentials", "wrong", saying: "check the credentials") },
            end: { try $0.two.startBridge() }),
        MachineFault(
            name: "NATS has a wrong certificate",
            missing: ChildProgram.find("openssl") == nil ? "there is no openssl in PATH: apt-get install openssl" : nil,
            prepare: { setup in
                let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -addext subjectAltName=IP:127.0.0.1"
                let make = "openssl req -x509 \(key) -subj /CN=$name -keyout $name.key -out $name.pem"
                try setup.directory.shell("cd $0; for name in hub other; do \(make); done", [setup.path])
                setup.scheme = "tls"
                setup.hub += ["--tls", "--tlscert", "\(setup.path)/hub.pem", "--tlskey", "\(setup.path)/hub.key"]
                setup.bridge += ["--tls-roots", "\(setup.path)/hub.pem"]
            },
            begin: { try $0.restartBridge(with: "--tls-roots", "other.pem", saying: "not signed") },
            end: { try $0.two.startBridge() }),
        MachineFault(
            name: "the clocks differ by a day",
            missing: falseClock == nil ? "libfaketime is not installed: apt-get install libfaketime" : nil,
            prepare: { setup in
                setup.wrapper = ["LD_PRELOAD=\(falseClock ?? "")", "FAKETIME=+1d", "FAKETIME_DONT_FAKE_MONOTONIC=1"]
                // The library changes the environment when it is first loaded, and a Swift program finds no arguments
                // then.
                setup.wrapper += ["sh", "-c", "exec \"$0\" \"$@\""]
            },
            end: { rig in
                // What the library leaves.
                for name in ["faketime_shm_", "sem.faketime_sem_"] {
                    unlink("/dev/shm/\(name)\(rig.two.bridge?.id ?? 0)")
                }
            }),
    ]

    private static func bridgeIsKilled(_ name: String, of machine: @Sendable @escaping (MachineRig) -> Machine) -> Self
    {
        MachineFault(name: name, begin: { try machine($0).endBridge() }, end: { try machine($0).startBridge() })
    }

    private static func serverIsKilled(_ name: String, of machine: @Sendable @escaping (MachineRig) -> Machine) -> Self
    {
        MachineFault(
            name: name, loss: .possible, begin: { try machine($0).killServer() },
            end: { try machine($0).waitForBridge() })
    }

    private static func networkFails(_ name: String, _ behavior: LoopbackProxy.Behavior) -> Self {
        MachineFault(
            name: name, begin: { $0.proxy.behavior = behavior }, end: { $0.proxy.behavior = .forwards })
    }

    /// The library of Debian's package libfaketime, which gives a program another time of day.
    private static let falseClock: String? = {
        let directories = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return directories.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
            .first(where: FileManager.default.fileExists)
    }()
}

extension MachineRig {
    /// Kills the observer's bridge. The next one gets a wrong file, and NATS or it has to refuse that.
    fileprivate func restartBridge(with option: String, _ file: String, saying text: String) throws {
        try two.endBridge()
        try two.expectRefusal([option, "\(directory.path)/\(file)"], saying: text)
    }
}
