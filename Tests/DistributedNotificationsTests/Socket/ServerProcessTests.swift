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

    /// What became of a shell script that is started as the server.
    private func end(of lines: String, mode: mode_t = 0o700, timeout: Duration = TestTimeout.hang) throws -> String? {
        let path = "\(temporary.parent)/script"
        // Another process writes it: a process that another test forks now would hold it open, and it could not be
        // executed.
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", #"printf '#!/bin/sh\n%s\n' "$1" >"$0""#, path, lines]
        try writer.run()
        writer.waitUntilExit()
        chmod(path, mode)
        return ServerStart.launch(
            path, listener: listener, directory: temporary.directory.path, until: .now + timeout)
    }

    func testAProgramThatEndsIsReportedWithItsStatusAndItsOutput() throws {
        for (lines, text) in [
            ("echo out; echo error >&2; exit 3", "ended at once with status 3: out; error"),
            ("exit 0", "ended at once with status 0"), ("kill -KILL $$", "ended at once by signal 9"),
        ] { XCTAssertEqual(try end(of: lines), text) }
        XCTAssertEqual(try end(of: "", mode: 0o600), "was not started: Permission denied")
    }

    func testAProgramThatDoesNotListenIsEndedAtTheTimeoutAndTheLastOfItsOutputIsKept() throws {
        let text = try XCTUnwrap(try end(of: "exec yes", timeout: .seconds(2)))
        XCTAssertTrue(text.hasPrefix("was not ready in time, and was ended: y; y") && text.count < 10_000)
        XCTAssertEqual(
            try end(of: "exec >&- 2>&-; sleep 600", timeout: .milliseconds(100)),
            "was not ready in time, and was ended")
    }

    func testAServerWithTheSocketOfAnotherDirectoryEndsAndSaysWhy() throws {
        let program = try XCTUnwrap(ServerStart.findProgram().program)
        XCTAssertEqual(
            ServerStart.launch(program, listener: listener, directory: "/elsewhere", until: .now + TestTimeout.hang),
            "ended at once with status 64: descriptor 3 is not the socket of /elsewhere")
    }
}
