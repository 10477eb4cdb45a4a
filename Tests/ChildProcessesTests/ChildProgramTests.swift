import ChildProcesses
import Foundation
import SharedTesting
import Testing

@Suite("Child processes")
struct ChildProgramTests {
    private func shell(_ script: String, environment: [String: String?] = [:]) -> ChildProgram {
        ChildProgram(path: "sh", arguments: ["-c", script], environment: environment)
    }

    @Test("a run returns the output, the errors and the end, and gives the input")
    func run() throws {
        for (script, end, output, errors) in [
            ("cat; echo to errors >&2; exit 3", ChildProcess.End.exit(3), "given", "to errors\n"),
            ("kill -9 $$", .signal(9), "", ""),
            // It ends without having read its input.
            ("exit 0", .exit(0), "", ""),
        ] {
            let result = try shell(script).run(input: Array("given".utf8), timeout: TestTimeout.hang)
            #expect(result.end == end && result.output == output && result.errors == errors)
        }
    }

    @Test("input and output that are larger than a pipe are passed completely")
    func large() throws {
        let input = (0..<1_000_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let result = try shell("cat; head -c 300000 /dev/zero >&2").run(
            input: input, timeout: TestTimeout.hang)
        #expect(Array(result.output.utf8) == input)
        #expect(result.errors.utf8.count == 300_000)
    }

    @Test("a program that does not end is killed, and what it wrote is kept")
    func timeout() throws {
        let result = try shell("echo begun; exec sleep 600").run(timeout: .milliseconds(500))
        #expect(result.end == .timedOut && result.output == "begun\n")
    }

    @Test("a process that the program leaves behind, and that holds its output, is not waited for")
    func leftBehind() throws {
        let result = try shell("sleep 600 & echo $!").run(timeout: TestTimeout.hang)
        let left = try #require(Int32(result.output.trimmingCharacters(in: .newlines)))
        #expect(result.end == .exit(0))
        #expect(kill(left, SIGKILL) == 0)
    }

    @Test("a program that does not exist is an error with its name")
    func missing() {
        #expect(throws: ChildProcessError.cannotRun("/nonexistent", problem: "No such file or directory")) {
            try ChildProgram(path: "/nonexistent").run(timeout: TestTimeout.hang)
        }
    }

    @Test("variables are set or removed in the child, and all others are inherited")
    func environment() throws {
        setenv("CHILD_KEPT", "kept", 1)
        setenv("CHILD_REMOVED", "removed", 1)
        let result = try shell(
            "echo $CHILD_KEPT, $CHILD_REMOVED, $CHILD_SET", environment: ["CHILD_REMOVED": nil, "CHILD_SET": "set"]
        ).run(timeout: TestTimeout.hang)
        #expect(result.output == "kept, , set\n")
    }

    @Test("lines are exchanged until the input is closed")
    func lines() throws {
        let child = try shell("while read line; do echo \"got $line\"; done; exit 5").start(
            input: .piped, output: .piped)
        for line in ["one", "two"] {
            try child.write(line: line, timeout: TestTimeout.hang)
            #expect(try child.readLine(timeout: TestTimeout.hang) == "got \(line)")
        }
        #expect(throws: ChildProcessError.timedOut(after: .zero)) { try child.readLine(timeout: .zero) }
        child.closeInput()
        #expect(try child.readLine(timeout: TestTimeout.hang) == nil)
        #expect(child.wait(timeout: TestTimeout.hang) == .exit(5))
        #expect(throws: ChildProcessError.hasEnded) { try child.write(line: "three", timeout: TestTimeout.hang) }
    }

    @Test("a child is killed when its value is released")
    func released() throws {
        var child: ChildProcess? = try ChildProgram(path: "sleep", arguments: ["600"]).start()
        let handle = try #require(ProcessHandle(child?.id ?? 0))
        #expect(!handle.waitUntilEnded(timeout: .zero))
        child = nil
        #expect(handle.waitUntilEnded(timeout: TestTimeout.hang))
    }

    @Test("a child that is started on a thread of Dispatch blocks no signals")
    func blockedSignals() async throws {
        let result = try await Task.detached { try self.shell("kill -6 $$").run(timeout: TestTimeout.hang) }.value
        #expect(result.end == .signal(SIGABRT))
    }

    @Test("the child has the default disposition of SIGPIPE")
    func signals() throws {
        signal(SIGPIPE, SIG_IGN)
        let output = try shell("grep SigIgn /proc/self/status").run(timeout: TestTimeout.hang).output
        let ignored = try #require(Int(output.dropFirst("SigIgn:\t".count).dropLast(), radix: 16), "\(output)")
        #expect(ignored & 1 << (SIGPIPE - 1) == 0)
    }
}
