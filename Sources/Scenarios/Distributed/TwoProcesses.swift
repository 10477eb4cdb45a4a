internal import ChildProcesses
internal import DeliveryDiagnostics
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// The environment of a distributed scenario: its own server, this process, and a second one that obeys commands.
final class TwoProcesses {
    let center: DistributedCenter
    let recorder: DeliveryRecorder
    let timeout: Duration
    private let directory: ServerDirectory
    private let child: ChildProcess
    /// The lines of the child's recording that have been read so far.
    private var lines: [String] = []

    /// Runs `body` and records both processes. When this returns or throws, the second process and the server have
    /// ended and the server's directory is removed.
    ///
    /// - Parameter watch: receives every event of this process's connection, on the main thread.
    static func perform(
        in environment: ScenarioEnvironment, watching watch: @escaping @Sendable (ConnectionEvent) -> Void = { _ in },
        _ body: (TwoProcesses) throws -> Void
    ) throws {
        guard let program = environment.program else { throw ScenarioError.noProgram }
        // In `/tmp`, and not in `TMPDIR`, because a socket's path has at most 107 bytes.
        let directory = ServerDirectory(path: "/tmp/notify-demo-\(getpid())-\(UUID().uuidString)")
        defer { remove(directory) }
        let center = try DistributedCenter(directory: directory)
        defer { center.close() }
        let two = TwoProcesses(
            directory, center,
            try program.start([DistributedProgram.subcommand, directory.path], input: .piped, output: .piped),
            environment)
        do {
            try environment.recorder.trace {
                environment.recorder.logCurrentThread()
                let token = center.addConnectionObserver(using: watch)
                try two.handleAll()
                try body(two)
                // Deliveries that are still waiting would never be handled after this.
                try two.handleAll()
                token.cancel()
            }
        } catch {
            // A process that does not obey does not end by itself either.
            two.child.kill()
            try? two.end()
            throw error
        }
        try two.end()
    }

    private init(
        _ directory: ServerDirectory, _ center: DistributedCenter, _ child: ChildProcess,
        _ environment: ScenarioEnvironment
    ) {
        (self.directory, self.center, self.child) = (directory, center, child)
        (recorder, timeout) = (environment.recorder, environment.timeout)
    }

    private func end() throws {
        child.closeInput()
        while let line = try? child.readLine(timeout: timeout) { lines.append(line) }
        let end = child.wait(timeout: timeout)
        try recorder.merge(lines.map { $0 + "\n" }.joined(), ofProcess: child.id, end: end)
        recorder.log("the second process has ended")
    }

    // MARK: The server

    private static func remove(_ directory: ServerDirectory) {
        try? killServer(at: directory, timeout: .seconds(5))
        try? FileManager.default.removeItem(atPath: directory.path)
    }

    /// Kills the directory's server, if there is one, and waits until it has ended.
    private static func killServer(at directory: ServerDirectory, timeout: Duration) throws {
        guard let status = try DistributedCenter.status(of: directory, timeout: timeout),
            let server = ProcessHandle(status.process)
        else { return }
        server.kill()
        guard server.waitUntilEnded(timeout: timeout) else {
            throw ScenarioError.timedOut(waitingFor: "the server's end", after: timeout)
        }
    }

    var status: ServerStatus {
        get throws {
            guard let status = try DistributedCenter.status(of: directory, timeout: timeout) else {
                throw ScenarioError.child(problem: "there is no server")
            }
            return status
        }
    }

    // MARK: Steps

    /// Sends a command to the second process, and waits until it is done.
    func ask(_ command: DistributedProgram.Command) throws {
        try child.write(line: try JSONText.of(command), timeout: timeout)
        while let line = try child.readLine(timeout: timeout) {
            switch line {
            case DistributedProgram.done: return
            case _ where line.first == DistributedProgram.answerMark:
                throw ScenarioError.child(problem: String(line.dropFirst()))
            default: lines.append(line)
            }
        }
        throw ChildProcessError.hasEnded
    }

    /// The second process posts, and this one handles what was delivered.
    func post(_ posts: [DistributedPost]) throws {
        try ask(.post(posts))
        try handleAll()
    }

    func handleAll() throws { try center.handleAll(timeout: timeout) }

    func suspend() throws {
        center.suspend()
        try center.synchronize(timeout: timeout)
        recorder.log("suspended")
    }

    func resume() throws {
        recorder.log("resumed")
        center.resume()
        try handleAll()
    }
}
