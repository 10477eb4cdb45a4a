import ChildProcesses
import Foundation
import SharedTesting
import XCTest

final class ChildProgramTests: XCTestCase {
    private func shell(_ script: String, environment: [String: String?] = [:]) -> ChildProgram {
        ChildProgram(path: "sh", arguments: ["-c", script], environment: environment)
    }

    func testARunReturnsTheOutputTheErrorsAndTheEndAndGivesTheInputAndTheEnvironment() throws {
        setenv("CHILD_KEPT", "kept", 1)
        setenv("CHILD_REMOVED", "removed", 1)
        let large = String(repeating: "input", count: 100_000)
        for (script, end, output, errors) in [
            ("cat; echo to errors >&2; exit 3", ChildProcess.End.exit(3), large, "to errors\n"),
            ("kill -9 $$", .signal(9), "", ""),
            // It ends without having read its input.
            ("exit 0", .exit(0), "", ""),
            ("echo $CHILD_KEPT, $CHILD_REMOVED, $CHILD_SET", .exit(0), "kept, , set\n", ""),
        ] {
            let result = try shell(script, environment: ["CHILD_REMOVED": nil, "CHILD_SET": "set"])
                .run(input: Array(large.utf8), timeout: TestTimeout.hang)
            XCTAssertTrue(result.end == end && result.output == output && result.errors == errors, "\(result)")
        }
        XCTAssertThrowsError(try ChildProgram(path: "/nonexistent").run(timeout: TestTimeout.hang)) {
            XCTAssertEqual("\($0)", "cannot run /nonexistent: No such file or directory")
        }
    }

    func testAProgramThatDoesNotEndIsKilledAlsoWhenItsValueIsReleasedAndOneItLeavesBehindIsNotWaitedFor() throws {
        let killed = try shell("echo begun; exec sleep 600").run(timeout: .milliseconds(500))
        XCTAssertTrue(killed.end == .timedOut && killed.output == "begun\n")
        let result = try shell("sleep 600 & echo $!").run(timeout: TestTimeout.hang)
        let left = try XCTUnwrap(Int32(result.output.trimmingCharacters(in: .newlines)))
        XCTAssertEqual(result.end, .exit(0))
        XCTAssertEqual(kill(left, SIGKILL), 0)
        var child: ChildProcess? = try ChildProgram(path: "sleep", arguments: ["600"]).start()
        let id = try XCTUnwrap(child?.id)
        child = nil
        XCTAssertEqual(kill(id, 0), -1)
    }

    func testLinesAreExchangedUntilTheInputIsClosed() throws {
        let child = try shell("while read line; do echo \"got $line\"; done; exit 5").start(
            input: .piped, output: .piped)
        for line in ["one", "two"] {
            try child.write(line: line, timeout: TestTimeout.hang)
            XCTAssertEqual(try child.readLine(timeout: TestTimeout.hang), "got \(line)")
        }
        assertThrows(ChildProcessError.self) { try child.readLine(timeout: .zero) }
        XCTAssertFalse(child.hasEnded)
        child.closeInput()
        XCTAssertNil(try child.readLine(timeout: TestTimeout.hang))
        XCTAssertEqual(child.wait(timeout: TestTimeout.hang), .exit(5))
        assertThrows(ChildProcessError.hasEnded) { try child.write(line: "three", timeout: TestTimeout.hang) }
    }

    func testAChildThatIsStartedOnAThreadOfDispatchBlocksNoSignalsAndHandlesSIGPIPEAsUsual() async throws {
        signal(SIGPIPE, SIG_IGN)
        let program = shell("grep -E 'Sig(Ign|Blk)' /proc/self/status; kill -6 $$")
        let result = try await Task.detached { try program.run(timeout: TestTimeout.hang) }.value
        XCTAssertEqual(result.end, .signal(SIGABRT))
        let masks = result.output.matches(of: /\t([0-9a-f]+)/).map { Int($0.1, radix: 16) ?? -1 }
        XCTAssertEqual(masks.map { $0 & 1 << (SIGPIPE - 1) }, [0, 0], result.output)
    }
}
