import CLinux
import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class PrivateDirectoryTests: XCTestCase {
    private var temporary: TemporaryDirectory!
    var directory: ServerDirectory { temporary.directory }

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
    }

    override func tearDown() {
        temporary = nil
    }

    /// The problem with a directory; nil if there is none.
    static func problem(of directory: ServerDirectory) -> String? {
        do throws(DistributedError) {
            try directory.prepare()
            return nil
        } catch {
            let (path, problem) = (error.path ?? "", error.problem)
            return path == directory.path || directory.path.isEmpty ? problem : "\(path): \(problem)"
        }
    }

    func permissions(of path: String) throws -> UInt32 {
        var file = CLinuxFile()
        try require(CLinuxFileAtPath(path, &file))
        return file.permissions
    }

    func testAMissingDirectoryIsCreatedForTheUserOnly() throws {
        try directory.prepare()
        XCTAssertEqual(try permissions(of: directory.path), 0o700)
        try directory.prepare()
    }

    func testOnlyTheLastDirectoryIsCreated() {
        let directory = ServerDirectory(path: "\(temporary.parent)/missing/notify-demo")
        XCTAssertEqual(
            Self.problem(of: directory),
            "the directory above it, \(temporary.parent)/missing, is not there. "
                + "Make that, or use another directory")
    }

    func testAFileIsRefused() throws {
        try Data().write(to: URL(fileURLWithPath: directory.path))
        XCTAssertEqual(Self.problem(of: directory), "it is no directory. Remove it, or use another")
    }

    func testAPathThroughAFileIsRefused() throws {
        try Data().write(to: URL(fileURLWithPath: directory.path))
        let directory = ServerDirectory(path: "\(directory.path)/below")
        XCTAssertEqual(Self.problem(of: directory), "one of the directories above it is no directory. Use another")
    }

    func testALinkIsRefusedEvenToAGoodDirectory() throws {
        let good = ServerDirectory(path: "\(temporary.parent)/good")
        try good.prepare()
        try FileManager.default.createSymbolicLink(atPath: directory.path, withDestinationPath: good.path)
        let problem = "it is a link, and links are not followed. Give the path of the directory itself"
        XCTAssertEqual(Self.problem(of: directory), problem)
        // The kernel would follow it.
        XCTAssertEqual(
            Self.problem(of: ServerDirectory(path: "\(directory.path)/")), "it ends in a slash. Leave that away")
    }

    func testALinkToNothingIsRefused() throws {
        try FileManager.default.createSymbolicLink(atPath: directory.path, withDestinationPath: "/nowhere")
        XCTAssertEqual(
            Self.problem(of: directory),
            "it is a link, and links are not followed. Give the path of the directory itself")
    }

    func testADirectoryThatOthersMayLookIntoIsRefusedAndStaysAsItIs() throws {
        try directory.prepare()
        for mode in [0o755, 0o770, 0o701] as [mode_t] {
            XCTAssertEqual(chmod(directory.path, mode), 0)
            let problem = try XCTUnwrap(Self.problem(of: directory))
            XCTAssertTrue(problem.hasPrefix("others may look into it (mode \(String(mode, radix: 8)))"))
            XCTAssertTrue(problem.hasSuffix("chmod 700 \(directory.path)"))
            XCTAssertEqual(try permissions(of: directory.path), mode)
        }
    }

    func testAnotherUsersDirectoryIsRefused() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        try directory.prepare()
        XCTAssertEqual(chown(directory.path, OtherUser.number, 0), 0)
        XCTAssertEqual(
            Self.problem(of: directory),
            "it belongs to user 65534, and this process runs as user 0. Use another directory")
    }

    func testAUserWithoutPermissionToCreateItGetsAnError() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        let directory = directory
        XCTAssertEqual(
            OtherUser.perform { Self.problem(of: directory) },
            "it is not there, and this process may not make it in \(temporary.parent). Use another directory")
    }

    func testADirectoryThatCannotBeWrittenToIsRefused() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        try directory.prepare()
        XCTAssertTrue(chown(directory.path, OtherUser.number, 0) == 0 && chmod(directory.path, 0o500) == 0)
        let directory = directory
        XCTAssertEqual(
            OtherUser.perform { Self.problem(of: directory) },
            "it cannot be written to (Permission denied). Open it to yourself with: chmod 700 \(directory.path)")
    }

    func testThePathOfTheSocketMayHave107Bytes() throws {
        func directory(withSocketPathOf bytes: Int) -> ServerDirectory {
            let beginning = "\(temporary.parent)/"
            let rest = bytes - beginning.utf8.count - "/socket".utf8.count
            return ServerDirectory(path: beginning + String(repeating: "d", count: rest))
        }
        XCTAssertNil(Self.problem(of: directory(withSocketPathOf: 107)))
        _ = try LocalSocket.bound(at: directory(withSocketPathOf: 107).socketPath)
        XCTAssertEqual(
            Self.problem(of: directory(withSocketPathOf: 108)),
            "the socket's path in it would have 108 bytes, and the system "
                + "allows 107. Use a directory with a shorter path")
    }

    func testARelativePathIsRefused() {
        for path in ["", "relative", "./relative", "/nul\0here"] {
            let problem = Self.problem(of: ServerDirectory(path: path))
            XCTAssertEqual(problem?.contains("it is no path from / on. Give the whole path of a directory"), true)
        }
    }

    func testAFullDiskIsReported() {
        XCTAssertEqual(SystemError.text(ENOSPC), "the disk is full. Make room on it")
    }
}
