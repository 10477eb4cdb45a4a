internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// What a distributed scenario happens in: a place of its own, this process with its center, and a second one that does what it
/// is told to.
final class TwoProcesses {
    let center: DistributedCenter
    let recorder: DeliveryRecorder
    let limit: Duration
    private let temporary: TemporaryServerPlace
    private let child: RunningChild
    /// The child's recording, as far as it is read.
    private var lines: [String] = []

    private init(
        _ temporary: TemporaryServerPlace, _ center: DistributedCenter, _ program: ChildProgram,
        _ environment: ScenarioEnvironment
    ) throws(ScenarioError) {
        self.temporary = temporary
        self.center = center
        recorder = environment.recorder
        limit = environment.limit
        child = try RunningChild(program, [temporary.place.directory])
    }

    /// Lets it happen, and records both processes. When it returns or throws, the second process and the server have ended and
    /// the place is removed.
    ///
    /// - Parameters:
    ///   - watch: told on the main thread what happens to this process's connection, from the first on.
    ///   - body: called when this process is connected.
    static func perform(
        in environment: ScenarioEnvironment, watching watch: @escaping @Sendable (ConnectionEvent) -> Void = { _ in },
        _ body: (TwoProcesses) throws -> Void
    ) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        guard let program = environment.distributedChild else { throw ScenarioError.noChildProgram }
        let temporary = try TemporaryServerPlace()
        defer { temporary.remove() }
        let center = DistributedCenter(place: temporary.place)
        defer { center.close() }
        let processes = try TwoProcesses(temporary, center, program, environment)
        let outcome = Result {
            try DeliveryTracer.record(into: environment.recorder) {
                environment.recorder.logCurrentThread()
                let token = center.addConnectionObserver(using: watch)
                try center.handleAll(limit: environment.limit)
                _ = try processes.server
                try body(processes)
                // What is left over would wait for ever.
                try center.handleAll(limit: environment.limit)
                token.cancel()
            }
        }
        let ended = Result { try processes.end() }
        try outcome.get()
        try ended.get()
    }

    private func end() throws {
        let end = child.end(limit: limit) { lines.append($0) }
        let records = try ChildProgram.records(in: Array(lines.map { $0 + "\n" }.joined().utf8))
        recorder.merge(records)
        let message =
            switch end {
            case .exit(let code): "exit \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        recorder.recordEnd(
            of: ProcessIdentity(id: child.processID, name: records.first?.process.name ?? "the second process"),
            message: message)
        recorder.log("the second process has ended")
    }

    /// The server that this process is connected to.
    var server: ProcessHandle {
        get throws(ScenarioError) { try temporary.server(of: center) }
    }

    /// How the server says that it is.
    var status: ServerStatus {
        get throws {
            guard let status = try DistributedCenter.status(of: temporary.place, limit: limit) else {
                throw ScenarioError.child(problem: "there is no server")
            }
            return status
        }
    }

    /// Has the second process do something, and waits until it is done.
    func ask(_ command: DistributedCommand) throws {
        try child.write(try command.line)
        while let line = try child.readLine(limit: limit) {
            guard line.first == DistributedProgram.answerMark else {
                lines.append(line)
                continue
            }
            guard line == DistributedProgram.done else { throw ScenarioError.child(problem: String(line.dropFirst())) }
            return
        }
        throw ScenarioError.child(problem: "ended before it had done what it was told")
    }

    func post(_ posts: [DistributedPost]) throws { try ask(.post(posts)) }

    /// Handles all that was delivered to this process by now.
    func handleAll() throws { try center.handleAll(limit: limit) }
}
