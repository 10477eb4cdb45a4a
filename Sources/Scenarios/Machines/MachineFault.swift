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
        MachineFault(
            name: "the poster's bridge is killed", begin: { try $0.one.endBridge() }, end: { try $0.one.startBridge() }),
        MachineFault(
            name: "the observer's bridge is killed", begin: { try $0.two.endBridge() },
            end: { try $0.two.startBridge() }),
        MachineFault(
            name: "the poster's local server is killed", loss: .possible, begin: { try $0.one.killServer() },
            end: { try $0.one.waitForBridge() }),
        MachineFault(
            name: "the observer's local server is killed", loss: .possible, begin: { try $0.two.killServer() },
            end: { try $0.two.waitForBridge() }),
        MachineFault(
            name: "the network forwards nothing", begin: { $0.proxy.behavior = .stops },
            end: { $0.proxy.behavior = .forwards }),
        MachineFault(
            name: "the network drops connections", begin: { $0.proxy.behavior = .drops },
            end: { $0.proxy.behavior = .forwards }),
        MachineFault(
            name: "NATS answers garbage", begin: { $0.proxy.behavior = .garbles },
            end: { $0.proxy.behavior = .forwards }),
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
            begin: { try $0.expectRefusal(["--credentials", "\($0.directory.path)/wrong"], saying: "credentials") }),
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
            begin: {
                try $0.expectRefusal(["--tls-roots", "\($0.directory.path)/other.pem"], saying: "not signed")
            }),
        MachineFault(
            name: "the clocks differ by a day",
            missing: falseClock == nil ? "libfaketime is not installed: apt-get install libfaketime" : nil,
            prepare: { setup in
                setup.wrapper = ["LD_PRELOAD=\(falseClock ?? "")", "FAKETIME=+1d", "FAKETIME_DONT_FAKE_MONOTONIC=1"]
                // The library changes the environment when it is first loaded, and a Swift program finds no arguments
                // then.
                setup.wrapper += ["sh", "-c", "exec \"$0\" \"$@\""]
            },
            // What the library leaves.
            end: { try $0.directory.shell("rm -f /dev/shm/*faketime_*_$0", ["\($0.two.bridge?.id ?? 0)"]) }),
    ]

    /// The library of Debian's package libfaketime, which gives a program another time of day.
    private static let falseClock: String? = {
        let directories = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return directories.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
            .first(where: FileManager.default.fileExists)
    }()
}
