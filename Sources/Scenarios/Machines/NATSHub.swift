internal import ChildProcesses
internal import Foundation

/// A nats-server with JetStream and a store of its own, which can be killed and started again.
final class NATSHub {
    static let stream = "MACHINES"

    /// The same after each start.
    private(set) var port = -1
    private let directory: RigDirectory
    private let program: ChildProgram
    private var process: ChildProcess?

    init(_ executable: String, in directory: RigDirectory, _ arguments: [String]) throws {
        let options = ["-a", "127.0.0.1", "-js", "-sd", directory.path, "--ports_file_dir", directory.path]
        program = ChildProgram(path: executable, arguments: options + ["-l", "\(directory.path)/hub.log"] + arguments)
        self.directory = directory
        try start()
    }

    /// Starts it on the port on which it was, and waits until it listens.
    func start() throws {
        let process = try program.start(["-p", "\(port)"])
        self.process = process
        try waitUntil("nats-server listens", timeout: directory.timeout) {
            if process.hasEnded {
                throw ScenarioError.machines(problem: "nats-server ended: \(directory.text(of: "hub.log"))")
            }
            // {"nats":["nats://127.0.0.1:PORT"]}
            let numbers = directory.text(of: "nats-server_\(process.id).ports").split { !$0.isNumber }
            port = numbers.last.flatMap { Int($0) } ?? port
            return !numbers.isEmpty
        }
    }

    func kill() {
        process?.kill()
        process?.wait()
    }

    /// Limits the stream that the bridges have made, by a request in NATS's own text.
    func limitStream(messages: Int) throws {
        let request = #"{"name":"\#(Self.stream)","subjects":["notifications.>"],"max_msgs":\#(messages)}"#
        try directory.shell(
            #"exec 3<>/dev/tcp/127.0.0.1/$0; printf 'SUB a 1\r\nPUB %s a %d\r\n%s\r\n' "$1" ${#2} "$2" >&3; "#
                + #"sed '/"created"/q; /"error"/Q1' <&3 >&2"#,
            ["\(port)", "$JS.API.STREAM.UPDATE.\(Self.stream)", request])
    }
}
