import CLinux
import DistributedTesting
import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class PlaceDirectoryTests: XCTestCase {
    private var temporary: TemporaryPlace!
    var place: ServerPlace { temporary.place }

    override func setUpWithError() throws {
        temporary = try TemporaryPlace()
    }

    override func tearDown() {
        temporary = nil
    }

    /// The problem with a directory; nil if there is none.
    static func problem(of place: ServerPlace) -> String? {
        do throws(DistributedError) {
            try place.prepare()
            return nil
        } catch {
            let (path, problem) = (error.path ?? "", error.problem)
            return path == place.directory || place.directory.isEmpty ? problem : "\(path): \(problem)"
        }
    }

    func permissions(of path: String) throws -> UInt32 {
        var file = CLinuxFile()
        try require(CLinuxFileAtPath(path, &file))
        return file.permissions
    }

    func testAMissingDirectoryIsCreatedForTheUserOnly() throws {
        try place.prepare()
        XCTAssertEqual(try permissions(of: place.directory), 0o700)
        try place.prepare()
    }

    func testOnlyTheLastDirectoryIsCreated() {
        let place = ServerPlace(directory: "\(temporary.parent)/missing/notify-demo")
        XCTAssertEqual(
            Self.problem(of: place),
            "the directory above it, \(temporary.parent)/missing, is not there. "
                + "Make that, or use another directory")
    }

    func testAFileIsRefused() throws {
        try Data().write(to: URL(fileURLWithPath: place.directory))
        XCTAssertEqual(Self.problem(of: place), "it is no directory. Remove it, or use another")
    }

    func testAPathThroughAFileIsRefused() throws {
        try Data().write(to: URL(fileURLWithPath: place.directory))
        let place = ServerPlace(directory: "\(place.directory)/below")
        XCTAssertEqual(Self.problem(of: place), "one of the directories above it is no directory. Use another")
    }

    func testALinkIsRefusedEvenToAGoodDirectory() throws {
        let good = ServerPlace(directory: "\(temporary.parent)/good")
        try good.prepare()
        try FileManager.default.createSymbolicLink(atPath: place.directory, withDestinationPath: good.directory)
        let problem = "it is a link, and links are not followed. Give the path of the directory itself"
        XCTAssertEqual(Self.problem(of: place), problem)
        // The kernel would follow it.
        XCTAssertEqual(
            Self.problem(of: ServerPlace(directory: "\(place.directory)/")), "it ends in a slash. Leave that away")
    }

    func testALinkToNothingIsRefused() throws {
        try FileManager.default.createSymbolicLink(atPath: place.directory, withDestinationPath: "/nowhere")
        XCTAssertEqual(
            Self.problem(of: place), "it is a link, and links are not followed. Give the path of the directory itself")
    }

    func testADirectoryThatOthersMayLookIntoIsRefusedAndStaysAsItIs() throws {
        try place.prepare()
        for mode in [0o755, 0o770, 0o701] as [mode_t] {
            XCTAssertEqual(chmod(place.directory, mode), 0)
            let problem = try XCTUnwrap(Self.problem(of: place))
            XCTAssertTrue(problem.hasPrefix("others may look into it (mode \(String(mode, radix: 8)))"))
            XCTAssertTrue(problem.hasSuffix("chmod 700 \(place.directory)"))
            XCTAssertEqual(try permissions(of: place.directory), mode)
        }
    }

    func testAnotherUsersDirectoryIsRefused() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        try place.prepare()
        XCTAssertEqual(chown(place.directory, OtherUser.number, 0), 0)
        XCTAssertEqual(
            Self.problem(of: place), "it belongs to user 65534, and this process runs as user 0. Use another directory")
    }

    func testAUserWithoutPermissionToCreateItGetsAnError() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        let place = place
        XCTAssertEqual(
            OtherUser.perform { Self.problem(of: place) },
            "it is not there, and this process may not make it in \(temporary.parent). Use another directory")
    }

    func testADirectoryThatCannotBeWrittenToIsRefused() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        try place.prepare()
        XCTAssertTrue(chown(place.directory, OtherUser.number, 0) == 0 && chmod(place.directory, 0o500) == 0)
        let place = place
        XCTAssertEqual(
            OtherUser.perform { Self.problem(of: place) },
            "it cannot be written to (Permission denied). Open it to yourself with: chmod 700 \(place.directory)")
    }

    func testThePathOfTheSocketMayHave107Bytes() throws {
        func place(withSocketPathOf bytes: Int) -> ServerPlace {
            let beginning = "\(temporary.parent)/"
            let rest = bytes - beginning.utf8.count - "/socket".utf8.count
            return ServerPlace(directory: beginning + String(repeating: "d", count: rest))
        }
        XCTAssertNil(Self.problem(of: place(withSocketPathOf: 107)))
        _ = try LocalSocket.bound(at: place(withSocketPathOf: 107).socketPath)
        XCTAssertEqual(
            Self.problem(of: place(withSocketPathOf: 108)),
            "the socket's path in it would have 108 bytes, and the system "
                + "allows 107. Use a directory with a shorter path")
    }

    func testARelativePathIsRefused() {
        for path in ["", "relative", "./relative", "/nul\0here"] {
            let problem = Self.problem(of: ServerPlace(directory: path))
            XCTAssertEqual(problem?.contains("it is no path from / on. Give the whole path of a directory"), true)
        }
    }

    func testAFullDiskIsReported() {
        XCTAssertEqual(SystemError.text(ENOSPC), "the disk is full. Make room on it")
    }
}
