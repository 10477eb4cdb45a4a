import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class ServedSocketTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()
    private var directory: ServerDirectory { temporary.directory }
    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
    }

    private func open() throws -> ServedSocket { try ServedSocket.open(at: directory, timeout: TestTimeout.hang) }

    func testAServersSocketIsForTheUserOnlyRefusesASecondServerAndIsRemovedWhenItStops() throws {
        let served = try open()
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.socketPath)
        XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600)
        let problem = "another server uses it. See which with: notify-demo serve --status --directory \(directory.path)"
        assertThrows(DistributedError.serverNotStarted(path: directory.socketPath, problem: problem)) { try open() }
        served.remove(timeout: TestTimeout.hang)
        XCTAssertEqual(files, ["lock"])
    }

    func testAServerRemovesNoOtherServersSocketAndMakesNothingInADirectoryThatIsRemoved() throws {
        let first = try open()
        XCTAssertEqual(unlink(directory.socketPath), 0)
        let second = try open()
        first.remove(timeout: TestTimeout.hang)
        XCTAssertEqual(files, ["lock", "socket"])
        XCTAssertEqual(unlink(directory.lockPath), 0)
        second.remove(timeout: TestTimeout.hang)
        XCTAssertEqual(files, ["socket"])
        try FileManager.default.removeItem(atPath: directory.path)
        second.remove(timeout: TestTimeout.hang)
        XCTAssertEqual(files, [])
    }

    /// A process that connects when the server has begun to stop is told, and connects to the next.
    func testAProcessThatWaitsWhenTheServerStopsIsTold() throws {
        let served = try open()
        let waiting = RawPeer(
            try XCTUnwrap(try ServerStart.connectIfServed(directory, timeout: TestTimeout.hang)))
        let server = LocalServer(directory: directory)
        server.stop()
        try server.serve(served, endsWhenIdle: false)
        XCTAssertEqual(try waiting.farewell(), "it stops: it was told to")
        XCTAssertEqual(files, ["lock"])
    }

    func testTheSocketThatSystemdPassesIsUsedAndStays() throws {
        // A program of its own, because the socket has to be descriptor 3.
        let program = try XCTUnwrap(Shell.directory() + "/notification-server")
        try directory.prepare()
        let listener = try LocalSocket.bound(at: directory.socketPath)
        XCTAssertTrue(listener.listen())
        for (variables, isUsed) in [("LISTEN_PID=$$ LISTEN_FDS=1", true), ("LISTEN_PID=1 LISTEN_FDS=1", false)] {
            let server = Process()
            server.executableURL = URL(filePath: "/bin/bash")
            server.arguments = ["-c", "exec 3<&0; \(variables) exec \(program) --directory \(directory.path)"]
            server.standardInput = FileHandle(fileDescriptor: dup(listener.descriptor), closeOnDealloc: true)
            let log = Pipe()
            server.standardError = log
            try server.run()
            try log.fileHandleForWriting.close()
            let line = String(decoding: log.fileHandleForReading.availableData, as: UTF8.self)
            XCTAssertTrue(line.contains(isUsed ? "serves at" : "another server uses it"), line)
            if isUsed { try RawPeer(directory).synchronize() }
            kill(server.processIdentifier, SIGTERM)
            while !log.fileHandleForReading.availableData.isEmpty {}
            XCTAssertEqual(files, isUsed ? ["socket"] : ["lock", "socket"])
        }
    }
}
