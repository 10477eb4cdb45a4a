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
            "it cannot be created: No such file or directory. Use another directory")
    }

    func testAFileALinkAndAPathThatIsNoneAreRefused() throws {
        func long(_ bytes: Int) -> String {
            "\(path)-".padding(toLength: bytes - "/socket".utf8.count, withPad: "d", startingAt: 0)
        }
        let (file, good, link) = ("\(path)-file", "\(path)-good", "\(path)-link")
        try Data().write(to: URL(filePath: file))
        XCTAssertNil(Self.problem(of: good))
        XCTAssertNil(Self.problem(of: long(107)))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: good)
        let (noDirectory, noPath) = ("it is a file or a link", "it must begin with a slash, and not end with one")
        for (path, problem) in [
            // The kernel would follow a link with a slash.
            (file, noDirectory), (link, noDirectory), ("\(link)/", noPath), ("", noPath), ("./relative", noPath),
            ("/nul\0here", noPath), ("\(file)/below", "Not a directory"),
            (long(108), "the socket's path in it would have 108 bytes, and the system allows 107"),
        ] { XCTAssertEqual(Self.problem(of: path)?.hasPrefix(problem), true, path) }
    }

    func testADirectoryThatOthersMayLookIntoIsRefusedAndStaysAsItIs() throws {
        XCTAssertNil(Self.problem(of: path))
        for mode in [0o755, 0o770, 0o701] as [mode_t] {
            XCTAssertEqual(chmod(path, mode), 0)
            let problem = try XCTUnwrap(Self.problem(of: path))
            XCTAssertTrue(problem.hasPrefix("others may look into it (mode \(String(mode, radix: 8)))"))
            XCTAssertEqual(Self.mode(of: path), mode)
        }
    }

    func testAnotherUsersDirectoryIsRefusedAndSoIsOneThatTheUserCannotMake() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        let path = path
        func problemOfOther() -> String? { OtherUser.perform { Self.problem(of: path) } ?? nil }
        XCTAssertEqual(problemOfOther(), "it cannot be created: Permission denied. Use another directory")
        XCTAssertNil(Self.problem(of: path))
        XCTAssertEqual(chown(path, OtherUser.number, 0), 0)
        XCTAssertEqual(
            Self.problem(of: path), "it belongs to user 65534, and this process runs as user 0. Use another directory")
    }
}
