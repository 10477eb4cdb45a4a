import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications

/// The test program is started several times, to run this very test: then it is one of the processes that connect at
/// once.
final class ManyProcessesTests: XCTestCase {
    private static let variable = "MANY_PROCESSES_TESTS_PLACE"

    func testProcessesThatBeginTogetherUseOneServer() throws {
        if let directory = ProcessInfo.processInfo.environment[Self.variable] { return try connectAndTell(directory) }
        let temporary = try TemporaryDirectory()
        let server = try meetOneServer(temporary)
        temporary.end(server)
        // And once more, over what it left.
        XCTAssertNotEqual(try meetOneServer(temporary), server)
    }

    /// In one of the processes: it waits until all are there.
    private func connectAndTell(_ directory: String) throws {
        FileHandle.standardError.write(Data("here\n".utf8))
        _ = FileHandle.standardInput.readDataToEndOfFile()
        let connection = try ServerStart.connect(to: ServerDirectory(path: directory), timeout: TestTimeout.hang)
        let server = connection.socket.peer?.process ?? 0
        FileHandle.standardError.write(Data("\(server) \(connection.started)\n".utf8))
    }

    private func meetOneServer(_ temporary: TemporaryDirectory) throws -> Int32 {
        let gate = Pipe()
        let said = Pipe()
        // Only what is given to the processes is theirs, else the gate is never closed.
        for handle in [
            gate.fileHandleForReading, gate.fileHandleForWriting, said.fileHandleForReading, said.fileHandleForWriting,
        ] { _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC) }
        let processes = try (0..<8).map { _ in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [
                "DistributedNotificationsTests.ManyProcessesTests/testProcessesThatBeginTogetherUseOneServer"
            ]
            process.environment = ProcessInfo.processInfo.environment
                .merging([Self.variable: temporary.directory.path, "SWIFT_BACKTRACE": "enable=no"]) { $1 }
            process.standardInput = gate.fileHandleForReading
            process.standardOutput = FileHandle.nullDevice
            process.standardError = said.fileHandleForWriting
            try process.run()
            return process
        }
        try gate.fileHandleForReading.close()
        try said.fileHandleForWriting.close()
        var lines = Lines(said.fileHandleForReading)
        for _ in processes { XCTAssertEqual(lines.next(), "here") }
        try gate.fileHandleForWriting.close()
        let told = processes.compactMap { _ in lines.next() }
        for process in processes {
            process.waitUntilExit()
            XCTAssertEqual(process.terminationStatus, 0)
        }
        let words = told.map { $0.split(separator: " ") }
        let servers = Set(words.compactMap { $0.first.flatMap { Int32($0) } })
        for server in servers where server > 1 { temporary.note(server) }
        XCTAssertEqual(told.count, processes.count)
        XCTAssertEqual(servers.count, 1, "\(told)")
        XCTAssertEqual(words.count { $0.last == "true" }, 1, "\(told)")
        return try XCTUnwrap(servers.first)
    }

    /// The lines that processes write, until all have ended.
    private struct Lines {
        private let handle: FileHandle
        private var bytes = Data()

        init(_ handle: FileHandle) {
            self.handle = handle
        }

        mutating func next() -> String? {
            while true {
                if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { bytes = Data(bytes[bytes.index(after: end)...]) }
                    return String(decoding: bytes[..<end], as: UTF8.self)
                }
                let more = handle.availableData
                if more.isEmpty { return nil }
                bytes += more
            }
        }
    }
}
