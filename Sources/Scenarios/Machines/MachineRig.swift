internal import ChildProcesses
internal import Foundation

/// Two machines around one NATS server. All of it ends with this value.
final class MachineRig {
    /// What differs from fault to fault.
    struct Setup {
        enum Way {
            case direct, throughProxy
            /// The proxy's address comes first, and then that of NATS.
            case throughProxyOrDirect
        }

        /// Temporary, and only this rig's.
        var directory: String
        var way = Way.direct
        var scheme = "nats"
        var hub: [String] = []
        var bridge: [String] = ["--hold", MachineRig.stream]
        /// Of the bridge of the second machine: its environment, and the words before its command.
        var environment: [String: String?] = [:]
        var wrapper: [String] = []
        /// Of the stream; nil: the bridge creates it.
        var streamLimit: Int?
    }

    static let stream = "MACHINES"

    let directory: String
    let hub: NATSHub
    let proxy: LoopbackProxy
    /// Posts.
    let one: Machine
    /// Observes.
    let two: Machine

    init(
        _ programs: MachinePrograms, timeout: Duration, _ prepare: (inout Setup) throws -> Void = { _ in }
    ) throws {
        // In `/tmp`, and not in `TMPDIR`, because a socket's path has at most 107 bytes.
        directory = "/tmp/machines-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let attributes = [FileAttributeKey.posixPermissions: 0o700]
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: attributes)
        var setup = Setup(directory: directory)
        try prepare(&setup)
        hub = try NATSHub(programs.nats, in: "\(directory)/hub", setup.hub, timeout: timeout)
        proxy = try LoopbackProxy(to: hub.port)
        if let limit = setup.streamLimit {
            let subjects = "\"subjects\":[\"notifications.>\"],\"storage\":\"file\""
            _ = try hub.ask(
                "STREAM.CREATE.\(Self.stream)",
                "{\"name\":\"\(Self.stream)\",\(subjects),\"max_msgs\":\(limit),\"discard\":\"old\"}")
        }
        let ports =
            switch setup.way {
            case .direct: [hub.port]
            case .throughProxy: [proxy.port]
            case .throughProxyOrDirect: [proxy.port, hub.port]
            }
        let urls = ports.flatMap { ["--nats", "\(setup.scheme)://127.0.0.1:\($0)"] }
        func machine(
            _ name: String, _ wrapper: [String] = [], _ environment: [String: String?] = [:]
        ) throws -> Machine {
            let words = wrapper + [programs.bridge] + urls + setup.bridge
            let program = ChildProgram(
                path: words[0], arguments: Array(words.dropFirst()),
                environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 })
            return try Machine(name, in: setup.directory, program, timeout: timeout)
        }
        (one, two) = (try machine("one"), try machine("two", setup.wrapper, setup.environment))
        for machine in [one, two] { try machine.startBridge() }
        for machine in [one, two] { try machine.waitForBridge() }
        try two.observe()
    }

    deinit {
        for machine in [one, two] { machine.end() }
        proxy.end()
        hub.kill()
        // The local servers end when it is removed.
        try? FileManager.default.removeItem(atPath: directory)
    }
}
