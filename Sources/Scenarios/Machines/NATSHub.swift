internal import ChildProcesses
internal import Foundation

/// A nats-server with JetStream and a store of its own, which can be killed and started again.
final class NATSHub {
    /// The same after each start.
    private(set) var port = -1
    private let directory: String
    private let program: ChildProgram
    private let timeout: Duration
    private var process: ChildProcess?

    init(_ executable: String, in directory: String, _ arguments: [String], timeout: Duration) throws {
        (self.directory, self.timeout) = (directory, timeout)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        program = ChildProgram(
            path: executable,
            arguments: ["-a", "127.0.0.1", "-js", "-sd", directory, "--ports_file_dir", directory] + arguments
                + ["-l", "\(directory)/log"])
        try start()
    }

    /// Starts it on the port on which it was, and waits until it listens.
    func start() throws {
        let process = try program.start(["-p", "\(port)"])
        self.process = process
        let file = "\(directory)/\((program.path as NSString).lastPathComponent)_\(process.id).ports"
        try waitUntil("nats-server listens, see \(directory)/log", timeout: timeout) {
            if process.hasEnded { throw ScenarioError.machines(problem: "nats-server ended with \(process.wait())") }
            guard let data = FileManager.default.contents(atPath: file),
                let urls = try? JSONDecoder().decode([String: [String]].self, from: data).values.first,
                let port = urls.first?.split(separator: ":").last.flatMap({ Int($0) })
            else { return false }
            self.port = port
            return true
        }
    }

    func kill() {
        process?.kill()
        process?.wait()
    }

    /// Asks JetStream, in NATS's own text.
    func ask(_ request: String, _ json: String = "") throws -> String {
        let socket = try LoopbackSocket.connected(to: port)
        let text =
            "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\n"
            + "PUB $JS.API.\(request) answer \(json.utf8.count)\r\n\(json)\r\n"
        guard socket.write(Array(text.utf8)) else { throw ScenarioError.machines(problem: "NATS does not listen") }
        var answer = ""
        // The answer is an object on one line.
        while !answer.contains("MSG answer") || !answer.hasSuffix("}\r\n") {
            let bytes = socket.read(timeout)
            if bytes.isEmpty {
                throw ScenarioError.machines(problem: "JetStream did not answer to \(request): \(answer)")
            }
            answer += String(decoding: bytes, as: UTF8.self)
        }
        if answer.contains("\"error\"") { throw ScenarioError.machines(problem: "JetStream: \(answer)") }
        return answer
    }
}

/// Waits until a condition holds that other processes make true.
func waitUntil(_ what: String, timeout: Duration, _ isSo: () throws -> Bool) throws {
    let deadline = SuspendingClock.now + timeout
    while try !isSo() {
        guard .now < deadline else { throw ScenarioError.timedOut(waitingFor: what, after: timeout) }
        usleep(2000)
    }
}
