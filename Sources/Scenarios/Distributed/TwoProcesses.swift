internal import ChildProcesses
internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// The environment of a distributed scenario: a server directory of its own, this process with its center, and a second
/// process that obeys commands.
final class TwoProcesses {
    let center: DistributedCenter
    let recorder: DeliveryRecorder
    let timeout: Duration
    private let temporary: TemporaryServerPlace
    private let child: ChildProcess
    /// The lines of the child's recording that have been read so far.
    private var lines: [String] = []

    private init(
        _ temporary: TemporaryServerPlace, _ center: DistributedCenter, _ program: ChildProgram,
        _ environment: ScenarioEnvironment
    ) throws(ScenarioError) {
        self.temporary = temporary
        self.center = center
        recorder = environment.recorder
        timeout = environment.timeout
        child = try ScenarioError.ofChild { () throws(ChildProcessError) in
            try program.start(
                [DistributedProgram.subcommand, temporary.place.directory], input: .piped, output: .piped)
        }
    }

    /// Runs `body` and records both processes. When this returns or throws, the second process and the server have
    /// ended and the directory is removed.
    ///
    /// - Parameters:
    ///   - watch: receives every event of this process's connection, on the main thread.
    ///   - body: runs after this process has connected.
    static func perform(
        in environment: ScenarioEnvironment, watching watch: @escaping @Sendable (ConnectionEvent) -> Void = { _ in },
        _ body: (TwoProcesses) throws -> Void
    ) throws {
        guard let program = environment.program else { throw ScenarioError.noProgram }
        let temporary = try TemporaryServerPlace()
        defer { temporary.remove() }
        let center = try DistributedCenter(place: temporary.place)
        defer { center.close() }
        let processes = try TwoProcesses(temporary, center, program, environment)
        let outcome = Result {
            try environment.recorder.trace {
                environment.recorder.logCurrentThread()
                let token = center.addConnectionObserver(using: watch)
                try center.handleAll(timeout: environment.timeout)
                _ = try processes.server
                try body(processes)
                // Deliveries that are still waiting would never be handled after this.
                try center.handleAll(timeout: environment.timeout)
                token.cancel()
            }
        }
        let ended = Result { try processes.end() }
        try outcome.get()
        try ended.get()
    }

    private func end() throws {
        child.closeInput()
        while let line = try? child.readLine(timeout: timeout) { lines.append(line) }
        let end = child.wait(timeout: timeout)
        try recorder.merge(lines.map { $0 + "\n" }.joined(), ofProcess: child.id, end: end)
        recorder.log("the second process has ended")
    }

    /// The server that this process is connected to.
    var server: ProcessHandle {
        get throws(ScenarioError) { try temporary.server(of: center) }
    }

    /// The server's own account of its state.
    var status: ServerStatus {
        get throws {
            guard let status = try DistributedCenter.status(of: temporary.place, timeout: timeout) else {
                throw ScenarioError.child(problem: "there is no server")
            }
            return status
        }
    }

    /// Sends a command to the second process, and waits until it is done.
    func ask(_ command: DistributedCommand) throws {
        let request = try command.line
        let answer = try ScenarioError.ofChild { () throws(ChildProcessError) in
            try child.write(line: request, timeout: timeout)
            while let line = try child.readLine(timeout: timeout) {
                if line.first == DistributedProgram.answerMark { return line }
                lines.append(line)
            }
            throw .hasEnded
        }
        guard answer == DistributedProgram.done else { throw ScenarioError.child(problem: String(answer.dropFirst())) }
    }

    func post(_ posts: [DistributedPost]) throws { try ask(.post(posts)) }

    /// Handles everything that was delivered to this process so far.
    func handleAll() throws { try center.handleAll(timeout: timeout) }
}
