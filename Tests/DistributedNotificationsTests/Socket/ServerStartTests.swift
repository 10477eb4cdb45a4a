import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

final class ServerStartTests: XCTestCase {
    private var temporary: TemporaryDirectory!
    private var directory: ServerDirectory { temporary.directory }

    override func setUpWithError() throws { temporary = try TemporaryDirectory() }
    override func tearDown() { temporary = nil }

    /// Why connecting failed; nil if it did not.
    private func failure(timeout: Duration = TestTimeout.hang) -> String? {
        do throws(DistributedError) {
            _ = try ServerStart.connect(to: directory, timeout: timeout)
            return nil
        } catch {
            return error.cause
        }
    }

    func testTheServerInheritsNeitherSessionNorDescriptors() throws {
        let server = try temporary.startServer().id
        let proc = "/proc/\(server)"
        let stat = try String(contentsOfFile: "\(proc)/stat", encoding: .utf8)
        let fields = try XCTUnwrap(stat.split(separator: ")").last).split(separator: " ").compactMap { Int32($0) }
        // Parent, process group, session, terminal.
        XCTAssertNotEqual(fields[0], getpid())
        XCTAssertTrue(fields[2] != getsid(0) && fields[2] != server)
        XCTAssertEqual(fields[3], 0)
        let arguments = try Data(contentsOf: URL(fileURLWithPath: "\(proc)/cmdline")).split(separator: 0)
        XCTAssertEqual(
            arguments.map { String(decoding: $0, as: UTF8.self) }, ServerStart.arguments(directory: directory.path))
        XCTAssertEqual(try FileManager.default.destinationOfSymbolicLink(atPath: "\(proc)/cwd"), "/")
        let open = try FileManager.default.contentsOfDirectory(atPath: "\(proc)/fd").compactMap { Int($0) }.sorted()
        XCTAssertTrue(open.starts(with: [0, 1, 2, 3]))
        for standard in 0...2 {
            XCTAssertEqual(
                try FileManager.default.destinationOfSymbolicLink(atPath: "\(proc)/fd/\(standard)"), "/dev/null")
        }
    }

    func testALockFileThatIsNotLockedIsIgnoredAndWaitingForALockTimesOut() throws {
        try directory.prepare()
        try Data("4711".utf8).write(to: URL(fileURLWithPath: directory.lockPath))
        let problem = try directory.whileLocked(until: .now) { failure(timeout: .milliseconds(50)) }
        XCTAssertEqual(problem?.hasPrefix("another process has \(directory.lockPath) locked"), true)
        _ = try temporary.startServer()
    }

    func testAFileThatIsNotASocketIsNotRemoved() throws {
        try directory.prepare()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: directory.socketPath))
        let problem = "it is no socket of this user, and is left alone. See what it is, and move it away"
        XCTAssertEqual(failure(), problem)
        assertThrows(DistributedError.pathNotUsable(path: directory.socketPath, problem: problem)) {
            try ServerStart.connectIfServed(directory, timeout: TestTimeout.hang)
        }
        XCTAssertEqual(try String(contentsOfFile: directory.socketPath, encoding: .utf8), "mine")
    }

    func testLookingForAServerCreatesNothing() throws {
        XCTAssertNil(try ServerStart.connectIfServed(directory, timeout: TestTimeout.hang))
        XCTAssertNotEqual(access(directory.path, F_OK), 0)
        let server = try temporary.startServer().id
        XCTAssertEqual(try ServerStart.connectIfServed(directory, timeout: TestTimeout.hang)?.peer?.process, server)
    }

    func testWaitingForAServerThatDoesNotAcceptTimesOut() throws {
        try directory.prepare()
        let listener = try LocalSocket.bound(at: directory.socketPath)
        XCTAssertEqual(Glibc.listen(listener.descriptor, 0), 0)
        var waiting: [LocalSocket] = []
        while let socket = (try? LocalSocket.connect(to: directory.socketPath, until: .now)) ?? nil {
            waiting.append(socket)
            try require(waiting.count < 100)
        }
        XCTAssertEqual(
            failure(timeout: .milliseconds(50))?.hasPrefix("there is one, but it accepts nobody"), true)
        XCTAssertEqual(access(directory.socketPath, F_OK), 0)
    }

    func testAnotherUsersServerIsRefused() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        try directory.prepare()
        let listener = try LocalSocket.bound(at: directory.socketPath)
        // The process that called listen is the peer.
        XCTAssertEqual(OtherUser.perform { listener.listen() }, true)
        XCTAssertEqual(
            failure(),
            "user 65534 serves there, and this process runs as user 0: it is not trusted. Use another directory")
    }
}
