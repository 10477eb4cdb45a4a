package import ChildProcesses
internal import Foundation

/// A nats-server, which can be killed and started again, in a temporary directory. The directory is removed with this
/// value, and when this process ends, even if it is killed. The programs that were started with its path end before.
package final class NATSHub {
    static let stream = "MACHINES"

    private static let executable = ChildProgram.find("nats-server", more: ["/usr/sbin", "/usr/local/sbin"])

    /// How to get nats-server, if there is none.
    package static var missing: String? {
        executable == nil ? "there is no nats-server in PATH: apt-get install nats-server" : nil
    }

    package let path: String
    /// Of each wait for what runs here.
    let timeout: Duration
    /// Of nats-server. By default it has JetStream, and keeps its store here.
    package var arguments: [String]
    /// The same after each start.
    package private(set) var port = -1
    package private(set) var process: ChildProcess?
    /// It waits for the end of its input.
    private let janitor: ChildProcess

    package init(timeout: Duration) throws {
        // In `/tmp`, and not in `TMPDIR`, because a socket's path has at most 107 bytes.
        path = "/tmp/machines-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        (self.timeout, arguments) = (timeout, ["-js", "-sd", path])
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        // The path is in the environment, so that the janitor is not one of these programs.
        let script = """
            trap '' INT TERM HUP; cat >/dev/null
            kill -9 $(grep -lsF "$RIG" /proc/[0-9]*/cmdline | tr -dc '0-9\\n') 2>/dev/null; rm -rf "$RIG"
            """
        janitor = try ChildProgram(path: "sh", arguments: ["-c", script], environment: ["RIG": path])
            .start(input: .piped)
    }

    deinit {
        janitor.closeInput()
        janitor.wait(timeout: timeout)
    }

    /// Starts it on a free port, or on that on which it was, and waits until it listens.
    package func start() throws {
        let options = ["-a", "127.0.0.1", "-p", "\(port)", "-l", "\(path)/hub.log", "--ports_file_dir", path]
        let process = try ChildProgram(path: Self.executable ?? "nats-server").start(options + arguments)
        self.process = process
        try waitUntil("nats-server listens") {
            if process.hasEnded { throw ScenarioError.machines(problem: "nats-server ended: \(text(of: "hub.log"))") }
            // {"nats":["nats://127.0.0.1:PORT"]}
            let numbers = text(of: "nats-server_\(process.id).ports").split { !$0.isNumber }
            port = numbers.last.flatMap { Int($0) } ?? port
            return !numbers.isEmpty
        }
    }

    package func kill() {
        process?.kill()
        process?.wait()
    }

    /// Limits the stream that the bridges have made, by a request in NATS's own text.
    func limitStream(messages: Int) throws {
        let request = #"{"name":"\#(Self.stream)","subjects":["notifications.>"],"max_msgs":\#(messages)}"#
        try shell(
            #"exec 3<>/dev/tcp/127.0.0.1/$0; printf 'SUB a 1\r\nPUB %s a %d\r\n%s\r\n' "$1" ${#2} "$2" >&3; "#
                + #"sed '/"created"/q; /"error"/Q1' <&3 >&2"#,
            ["\(port)", "$JS.API.STREAM.UPDATE.\(Self.stream)", request])
    }

    /// Empty if the directory has no such file.
    func text(of file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: "\(path)/\(file)") ?? Data(), as: UTF8.self)
    }

    /// Runs a script of bash in the directory.
    package func shell(_ script: String, _ arguments: [String] = []) throws {
        let result = try ChildProgram(path: "bash", arguments: ["-ec", "cd \(path); \(script)"])
            .run(arguments, timeout: timeout)
        guard result.end == .exit(0) else {
            throw ScenarioError.machines(problem: "\(script): \(result.end), \(result.errors)")
        }
    }

    /// Waits until a condition holds that other processes make true.
    func waitUntil(_ what: String, _ isSo: () throws -> Bool) throws {
        let deadline = SuspendingClock.now + timeout
        while try !isSo() {
            guard .now < deadline else { throw ScenarioError.timedOut(waitingFor: what, after: timeout) }
            usleep(2000)
        }
    }
}
