import CLinux
import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class PrivateDirectoryTests: XCTestCase {
    private var temporary: TemporaryDirectory!
    private var path: String { temporary.directory.path }

    override func setUpWithError() throws { temporary = try TemporaryDirectory() }
    override func tearDown() { temporary = nil }

    /// The problem with a directory; nil if there is none.
    private static func problem(of path: String) -> String? {
        do throws(DistributedError) {
            try ServerDirectory(path: path).prepare()
            return nil
        } catch {
            return error.cause
        }
    }

    private static func mode(of path: String) -> UInt32 {
        var file = CLinuxFile()
        return CLinuxFileAtPath(path, &file) ? file.permissions : 0
    }

    func testAMissingDirectoryIsCreatedForTheUserOnlyAndNoneAboveIt() throws {
        for _ in 0..<2 { XCTAssertNil(Self.problem(of: path)) }
        XCTAssertEqual(Self.mode(of: path), 0o700)
        XCTAssertEqual(
            Self.problem(of: "\(temporary.parent)/missing/d"),
            "the directory above it, \(temporary.parent)/missing, is not there. Make that, or use another directory")
    }

    func testAFileAndALinkAreRefused() throws {
        let (file, good, link) = ("\(path)-file", "\(path)-good", "\(path)-link")
        try Data().write(to: URL(filePath: file))
        XCTAssertNil(Self.problem(of: good))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: good)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/nowhere")
        let linked = "it is a link, and links are not followed. Give the path of the directory itself"
        for (path, problem) in [
            (file, "it is no directory. Remove it, or use another"), (link, linked), (path, linked),
            ("\(file)/below", "one of the directories above it is no directory. Use another"),
            // The kernel would follow it.
            ("\(link)/", "it ends in a slash. Leave that away"),
        ] { XCTAssertEqual(Self.problem(of: path), problem) }
    }

    func testADirectoryThatOthersMayLookIntoIsRefusedAndStaysAsItIs() throws {
        XCTAssertNil(Self.problem(of: path))
        for mode in [0o755, 0o770, 0o701] as [mode_t] {
            XCTAssertEqual(chmod(path, mode), 0)
            let problem = try XCTUnwrap(Self.problem(of: path))
            XCTAssertTrue(problem.hasPrefix("others may look into it (mode \(String(mode, radix: 8)))"))
            XCTAssertTrue(problem.hasSuffix("chmod 700 \(path)"))
            XCTAssertEqual(Self.mode(of: path), mode)
        }
    }

    func testAnotherUsersDirectoryIsRefusedAndSoIsOneThatTheUserCannotMakeOrWriteTo() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        let path = path
        XCTAssertEqual(
            OtherUser.perform { Self.problem(of: path) },
            "it is not there, and this process may not make it in \(temporary.parent). Use another directory")
        XCTAssertNil(Self.problem(of: path))
        XCTAssertEqual(chown(path, OtherUser.number, 0), 0)
        XCTAssertEqual(
            Self.problem(of: path),
            "it belongs to user 65534, and this process runs as user 0. Use another directory")
        XCTAssertEqual(chmod(path, 0o500), 0)
        XCTAssertEqual(
            OtherUser.perform { Self.problem(of: path) },
            "it cannot be written to (Permission denied). Open it to yourself with: chmod 700 \(path)")
    }

    func testThePathOfTheSocketMayHave107BytesAndIsAbsolute() throws {
        func path(withSocketPathOf bytes: Int) -> String {
            let beginning = "\(temporary.parent)/"
            return beginning
                + String(repeating: "d", count: bytes - beginning.utf8.count - "/socket".utf8.count)
        }
        XCTAssertNil(Self.problem(of: path(withSocketPathOf: 107)))
        _ = try LocalSocket.bound(at: "\(path(withSocketPathOf: 107))/socket")
        XCTAssertEqual(
            Self.problem(of: path(withSocketPathOf: 108)),
            "the socket's path in it would have 108 bytes, and the system allows 107. Use a directory with a shorter "
                + "path")
        for path in ["", "relative", "./relative", "/nul\0here"] {
            XCTAssertEqual(
                Self.problem(of: path), "it is no path from / on. Give the whole path of a directory", path)
        }
    }
}
