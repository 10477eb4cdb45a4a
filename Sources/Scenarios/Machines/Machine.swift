internal import ChildProcesses
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// A stand-in for a machine: a local server and a bridge of its own, and a poster and an observer in this process.
final class Machine {
    let name: String
    private(set) var bridge: ChildProcess?
    private(set) var posted = 0
    private let parent: RigDirectory
    private let directory: ServerDirectory
    private let program: ChildProgram
    private let center: DistributedCenter
    let tally = Locked(MachineTally())
    private var tokens: [ObserverToken] = []

    private var timeout: Duration { parent.timeout }

    /// - Parameter words: the command of the bridge.
    init(_ name: String, in parent: RigDirectory, _ words: [String]) throws {
        (self.name, self.parent) = (name, parent)
        directory = ServerDirectory(path: "\(parent.path)/\(name)")
        let options = ["--name", Notification.Name.test.rawValue, "--machine", name, "--directory", directory.path]
        program = ChildProgram(
            path: "env",
            arguments: ["SWIFT_BACKTRACE=enable=no"] + words + options + ["--state", "\(directory.path).state"])
        center = try DistributedCenter(directory: directory, postTimeout: parent.timeout)
    }

    deinit { center.close() }

    func startBridge() throws {
        let path = "\(directory.path).log"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let log = try FileHandle(forWritingTo: URL(filePath: path))
        let stream = ChildProgram.Stream.descriptor(log.fileDescriptor)
        bridge = try program.start(output: stream, errors: stream)
    }

    /// Kills the bridge, or tells it to end.
    func endBridge(_ signal: Int32 = SIGKILL) throws {
        bridge?.kill(signal)
        guard let end = bridge?.wait(timeout: timeout), end != .signal(SIGKILL), end != .exit(0) else { return }
        throw ScenarioError.machines(problem: "the bridge of \(name) was told to end: \(end)")
    }

    /// Waits until the bridge serves the local server and is connected to NATS.
    func waitForBridge() throws {
        try waitUntil("the bridge of \(name) is connected", timeout: timeout) {
            guard let bridge, !bridge.hasEnded else {
                throw ScenarioError.machines(problem: "the bridge of \(name) ended: \(parent.text(of: "\(name).log"))")
            }
            let client = status?.clients.first { $0.process == bridge.id && !$0.observers.isEmpty }
            return client?.details["connected to"].map { $0 != "nothing" } ?? false
        }
    }

    /// Runs another bridge of this machine, which has to be refused.
    func expectRefusal(_ more: [String] = [], saying text: String) throws {
        let result = try program.run(more, timeout: timeout)
        guard result.end == .exit(2), result.errors.contains(text) else {
            throw ScenarioError.machines(
                problem: "another bridge: \(result.end), not exit 2, or \"\(result.errors)\" says no \"\(text)\"")
        }
    }

    /// Nil if none runs, or it is about to end.
    var status: ServerStatus? { try? DistributedCenter.status(of: directory, timeout: timeout) }

    func killServer() throws {
        guard let process = status?.process else { throw ScenarioError.machines(problem: "there is no local server") }
        kill(process, SIGKILL)
    }

    /// Waits until the bridge has published everything.
    func waitUntilPublished() throws {
        try center.synchronize(timeout: timeout)
        try waitUntil("machine \(name) has published all", timeout: timeout) { status?.heldEntries == 0 }
    }

    /// Expects that only this machine's posts were for the bridge.
    func expectNoLoop() throws {
        let matched = status?.clients.first { $0.process == bridge?.id }?.matched
        guard matched == posted else {
            throw ScenarioError.machines(problem: "a loop: \(name) posted \(posted), its bridge got \(matched ?? 0)")
        }
    }

    func observe() throws {
        tokens = [
            try center.addObserver(forName: .test, on: .postingThread) { [tally, name] notification in
                guard let number = notification.userInfo?["number"]?.integerValue else { return }
                tally.withLock { $0.receive(number, from: notification.origin?.machine ?? name) }
            },
            center.addConnectionObserver(on: .postingThread) { [tally] event in tally.withLock { $0.receive(event) } },
        ]
        try synchronize()
    }

    /// Waits until the local server knows the observer.
    func synchronize() throws {
        try waitUntil("a server serves", timeout: timeout) { (try? center.synchronize(timeout: timeout)) != nil }
    }

    /// Each post has about 200 bytes.
    func post() throws {
        posted += 1
        let text = PropertyListValue.string(String(repeating: "x", count: 110))
        try center.post(name: .test, userInfo: ["number": PropertyListValue(posted), "text": text])
    }

    /// Waits until a post of a machine has arrived here.
    /// Waits until it has received the last post of each machine, or knows how many are lost.
    func waitForAll(of posters: [Machine]) throws {
        let posted = posters.reduce(0) { $0 + $1.posted }
        try waitUntil("machine \(name) has received all posts or their gap", timeout: timeout) {
            tally.withLock { tally in
                tally.received + tally.gap >= posted
                    || posters.allSatisfy { tally.last[$0.name] ?? 0 >= $0.posted }
            }
        }
    }
}
