internal import ChildProcesses
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// A stand-in for a machine: a local server and a bridge of its own, and a poster and an observer in this process.
final class Machine {
    let name: String
    private(set) var bridge: ChildProcess?
    private(set) var posted = 0
    private let hub: NATSHub
    private let directory: ServerDirectory
    private let program: ChildProgram
    private let center: DistributedCenter
    private var tokens: [ObserverToken] = []

    /// - Parameter words: the command of the bridge.
    init(_ name: String, _ hub: NATSHub, _ words: [String], _ environment: [String: String?] = [:]) throws {
        (self.name, self.hub, directory) = (name, hub, ServerDirectory(path: "\(hub.path)/\(name)"))
        let options = ["--name", Notification.Name.test.rawValue, "--machine", name, "--directory", directory.path]
        program = ChildProgram(
            path: "sh",
            arguments: ["-c", "exec \"$0\" \"$@\" >>\(directory.path).log 2>&1"] + words + options
                + ["--state", "\(directory.path).state"],
            environment: ["SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 })
        center = try DistributedCenter(directory: directory, postTimeout: hub.timeout)
    }

    deinit { center.close() }

    func startBridge() throws { bridge = try program.start() }

    private var log: String { hub.text(of: "\(name).log") }

    /// Kills the bridge, or tells it to end.
    func endBridge(_ signal: Int32 = SIGKILL) throws {
        bridge?.kill(signal)
        guard let end = bridge?.wait(timeout: hub.timeout), end != .signal(SIGKILL), end != .exit(0) else { return }
        throw ScenarioError.machines(problem: "the bridge of \(name) was told to end: \(end)")
    }

    /// Waits until the bridge serves the local server and is connected to NATS.
    func waitForBridge() throws {
        try hub.waitUntil("the bridge of \(name) is connected") {
            guard let bridge, !bridge.hasEnded else {
                throw ScenarioError.machines(problem: "the bridge of \(name) ended: \(log)")
            }
            let client = status?.clients.first { $0.process == bridge.id && !$0.observers.isEmpty }
            return client?.details["connected to"].map { $0 != "nothing" } ?? false
        }
    }

    /// Runs another bridge, which has to be refused.
    ///
    /// - Parameter more: options in place of those of this machine's bridge.
    func expectRefusal(_ more: [String] = [], saying text: String) throws {
        let before = log.count
        let (end, errors) = (try program.run(more, timeout: hub.timeout).end, log.dropFirst(before))
        guard end == .exit(2), errors.contains(text) else {
            throw ScenarioError.machines(
                problem: "another bridge: \(end), not exit 2, or \"\(errors)\" says no \"\(text)\"")
        }
    }

    /// Nil if none runs, or it is about to end.
    var status: ServerStatus? { try? DistributedCenter.status(of: directory, timeout: hub.timeout) }

    func killServer() throws {
        guard let process = status?.process else { throw ScenarioError.machines(problem: "there is no local server") }
        kill(process, SIGKILL)
    }

    /// Waits until the bridge has published everything.
    func waitUntilPublished() throws {
        try center.synchronize(timeout: hub.timeout)
        try hub.waitUntil("machine \(name) has published all") { status?.heldEntries == 0 }
    }

    /// Expects that only this machine's posts were for the bridge.
    func expectNoLoop() throws {
        let matched = status?.clients.first { $0.process == bridge?.id }?.matched
        guard matched == posted else {
            throw ScenarioError.machines(problem: "a loop: \(name) posted \(posted), its bridge got \(matched ?? 0)")
        }
    }

    func observe(_ tally: Locked<MachineTally>) throws {
        tokens = [
            try center.addObserver(forName: .test, on: .postingThread) { [name] notification in
                guard let number = notification.userInfo?["number"]?.integerValue else { return }
                tally.withLock { $0.receive(number, from: notification.origin?.machine ?? name, at: name) }
            },
            center.addConnectionObserver(on: .postingThread) { event in tally.withLock { $0.receive(event) } },
        ]
        try synchronize()
    }

    /// Waits until the local server knows the observer.
    func synchronize() throws {
        try hub.waitUntil("a server serves") { (try? center.synchronize(timeout: hub.timeout)) != nil }
    }

    /// Each post has about 200 bytes.
    func post() throws {
        posted += 1
        let text = PropertyListValue.string(String(repeating: "x", count: 110))
        try center.post(name: .test, userInfo: ["number": PropertyListValue(posted), "text": text])
    }
}
