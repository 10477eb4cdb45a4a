internal import ChildProcesses
internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// A stand-in for a machine: a local server and a bridge of its own, and a poster and an observer in this process.
final class Machine {
    let name: String
    private let directory: ServerDirectory
    private var program: ChildProgram
    private let log: FileHandle
    private let logPath: String
    private let timeout: Duration
    private let poster: DistributedCenter
    private let observer: DistributedCenter
    private let received = Locked(MachineTally())
    private var tokens: [ObserverToken] = []
    private(set) var bridge: ChildProcess?
    private(set) var posted = 0

    /// Each post has about 200 bytes.
    private static let text = PropertyListValue.string(String(repeating: "x", count: 110))

    init(_ name: String, in parent: String, _ program: ChildProgram, timeout: Duration) throws {
        (self.name, self.program, self.timeout) = (name, program, timeout)
        directory = ServerDirectory(path: "\(parent)/\(name)")
        self.program.arguments += [
            "--name", Notification.Name.test.rawValue, "--machine", name, "--directory", directory.path,
            "--state", "\(parent)/\(name).state",
        ]
        logPath = "\(parent)/\(name).log"
        _ = FileManager.default.createFile(atPath: logPath, contents: nil)
        log = try FileHandle(forWritingTo: URL(filePath: logPath))
        poster = try DistributedCenter(directory: directory, postTimeout: timeout)
        observer = try DistributedCenter(directory: directory, postTimeout: timeout)
    }

    func end() {
        tokens = []
        bridge?.kill(SIGTERM)
        bridge?.wait(timeout: .seconds(5))
        for center in [poster, observer] { center.close() }
    }

    // MARK: The bridge

    func startBridge() throws {
        let descriptor = ChildProgram.Stream.descriptor(log.fileDescriptor)
        bridge = try program.start(output: descriptor, errors: descriptor)
    }

    /// Ends the bridge as a user does.
    func stopBridge() throws {
        bridge?.kill(SIGTERM)
        guard let end = bridge?.wait(timeout: timeout), end != .exit(0) else { return }
        throw ScenarioError.machines(problem: "the bridge of \(name) was told to end: \(end). See \(logPath)")
    }

    func killBridge() {
        bridge?.kill()
        bridge?.wait()
    }

    /// Waits until the bridge serves the local server and is connected to NATS.
    func waitForBridge() throws {
        try waitUntil("the bridge of \(name) is connected, see \(logPath)", timeout: timeout) {
            guard let bridge, !bridge.hasEnded else {
                let lines = FileManager.default.contents(atPath: logPath).map { String(decoding: $0, as: UTF8.self) }
                throw ScenarioError.machines(problem: "the bridge of \(name) ended: \(lines ?? "")")
            }
            let client = status?.clients.first { $0.process == bridge.id && !$0.observers.isEmpty }
            return client?.details["connected to"].map { $0 != "nothing" } ?? false
        }
    }

    /// Runs another bridge, which has to be refused.
    func expectRefusal(_ more: [String] = [], saying text: String) throws {
        let result = try program.run(more, timeout: timeout)
        guard result.end == .exit(2), result.errors.contains(text) else {
            throw ScenarioError.machines(
                problem:
                    "another bridge: \(result.end) in place of exit 2, and \"\(result.errors)\" says no \"\(text)\"")
        }
    }

    // MARK: The local server

    /// Nil if none runs, or it is about to end.
    var status: ServerStatus? {
        guard let status = try? DistributedCenter.status(of: directory, timeout: timeout) else { return nil }
        return status
    }

    func killServer() throws {
        guard let process = status?.process else {
            throw ScenarioError.machines(problem: "there is no local server in \(directory.path)")
        }
        kill(process, SIGKILL)
        try waitUntil("the local server is gone", timeout: timeout) {
            poster.serverProcess != process && observer.serverProcess != process
        }
    }

    // MARK: Notifications

    func observe() throws {
        tokens = [
            try observer.addObserver(forName: .test, on: .postingThread) { [received, name] notification in
                guard let number = notification.userInfo?["number"]?.integerValue else { return }
                received.withLock { $0.receive(number, of: notification.origin?.machine ?? name) }
            },
            observer.addConnectionObserver(on: .postingThread) { [received] event in
                received.withLock { $0.receive(event) }
            },
        ]
        try synchronize()
    }

    /// Waits until the local server knows the observer.
    func synchronize() throws {
        try waitUntil("a local server serves", timeout: timeout) {
            (try? observer.synchronize(timeout: timeout)) != nil
        }
    }

    func post() throws {
        posted += 1
        try poster.post(name: .test, userInfo: ["number": PropertyListValue(posted), "text": Self.text])
    }

    var tally: MachineTally { received.withLock { $0 } }

    /// Waits until a post of a machine has arrived here.
    func wait(for number: Int, of machine: Machine) throws {
        try waitUntil("post \(number) of machine \(machine.name) is on machine \(name)", timeout: timeout) {
            received.withLock { $0.last(of: machine.name) } >= number
        }
    }

    /// Waits until the bridge has published everything.
    func waitUntilPublished() throws {
        try poster.synchronize(timeout: timeout)
        try waitUntil("machine \(name) has published all", timeout: timeout) {
            status?.heldEntries == 0
        }
    }
}
