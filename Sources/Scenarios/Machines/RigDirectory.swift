internal import ChildProcesses
internal import Foundation

/// A temporary directory. It is removed with this value, and when this process ends, even if it is killed. The programs
/// that were started with its path end before.
final class RigDirectory {
    let path: String
    /// Of each wait for what runs here.
    let timeout: Duration
    /// It waits for the end of its input.
    private let janitor: ChildProcess

    init(timeout: Duration) throws {
        // In `/tmp`, and not in `TMPDIR`, because a socket's path has at most 107 bytes.
        path = "/tmp/machines-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        self.timeout = timeout
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

    /// Empty if there is no such file.
    func text(of file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: "\(path)/\(file)") ?? Data(), as: UTF8.self)
    }

    /// Runs a script of bash.
    func shell(_ script: String, _ arguments: [String]) throws {
        let result = try ChildProgram(path: "bash", arguments: ["-ec", script]).run(arguments, timeout: timeout)
        guard result.end == .exit(0) else {
            throw ScenarioError.machines(problem: "\(script): \(result.end), \(result.errors)")
        }
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
