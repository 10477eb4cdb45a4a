import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class ServerProcessTests: XCTestCase {
    private var temporary: TemporaryDirectory!
    private var listener: LocalSocket!

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
        try temporary.directory.prepare()
        listener = try LocalSocket.bound(at: temporary.directory.socketPath)
    }

    override func tearDown() { (temporary, listener) = (nil, nil) }

    private func start(
        _ path: String, directory: String? = nil, timeout: Duration = TestTimeout.hang
    ) -> ServerProcess.Outcome {
        ServerProcess.start(
            ServerProgram(path: path, name: path), listener: listener,
            directory: directory ?? temporary.directory.path, until: .now + timeout)
    }

    private func script(_ lines: String) throws -> String {
        let path = "\(temporary.parent)/script"
        // Another process writes it: a process that another test forks now would hold it open, and it could not be
        // executed.
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", #"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 700 "$0""#, path, lines]
        try writer.run()
        writer.waitUntilExit()
        return path
    }

    func testAProgramThatEndsIsReportedWithItsStatusAndItsOutput() throws {
        for (lines, status, output) in [
            ("echo out; echo error >&2; exit 3", 3 << 8, "out\nerror\n"), ("exit 0", 0, ""),
            ("kill -KILL $$", SIGKILL, ""),
        ] as [(String, Int32, String)] {
            XCTAssertEqual(start(try script(lines)), .ended(status: status, output: output))
        }
        let path = try script("")
        chmod(path, 0o600)
        XCTAssertEqual(start(path), .failed(call: "executing it", error: EACCES))
    }

    func testAProgramThatDoesNotListenIsEndedAtTheTimeoutAndTheLastOfItsOutputIsKept() throws {
        guard case .timedOut(let output) = start(try script("exec yes"), timeout: .milliseconds(100)) else {
            return XCTFail("it did not time out")
        }
        XCTAssertLessThanOrEqual(output.utf8.count, 4096)
        XCTAssertEqual(
            start(try script("exec >&- 2>&-; sleep 600"), timeout: .milliseconds(100)), .timedOut(output: ""))
    }

    func testAServerWithTheSocketOfAnotherDirectoryEndsAndSaysWhy() throws {
        guard case .program(let program) = ServerProgram.find() else {
            return XCTFail("there is no server program beside the tests")
        }
        XCTAssertEqual(
            start(program.path, directory: "/elsewhere"),
            .ended(status: EX_USAGE << 8, output: "descriptor 3 is not the socket of /elsewhere\n"))
    }
}
