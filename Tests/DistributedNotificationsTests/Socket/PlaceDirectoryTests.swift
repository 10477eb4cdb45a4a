import CLinux
import DistributedTesting
import Foundation
import Glibc
import Testing

@testable import DistributedNotifications

struct PlaceDirectoryTests {
    let temporary: TemporaryPlace
    var place: ServerPlace { temporary.place }

    init() throws {
        temporary = try TemporaryPlace()
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
        try #require(CLinuxFileAtPath(path, &file))
        return file.permissions
    }

    @Test func whatIsMissingIsMadeForTheUserOnly() throws {
        try place.prepare()
        #expect(try permissions(of: place.directory) == 0o700)
        try place.prepare()
    }

    @Test func onlyTheLastDirectoryIsMade() {
        let place = ServerPlace(directory: "\(temporary.parent)/missing/notify-demo")
        #expect(
            Self.problem(of: place) == "the directory above it, \(temporary.parent)/missing, is not there. "
                + "Make that, or use another directory")
    }

    @Test func aFileIsRefused() throws {
        try Data().write(to: URL(fileURLWithPath: place.directory))
        #expect(Self.problem(of: place) == "it is no directory. Remove it, or use another")
    }

    @Test func aPathThroughAFileIsRefused() throws {
        try Data().write(to: URL(fileURLWithPath: place.directory))
        let place = ServerPlace(directory: "\(place.directory)/below")
        #expect(Self.problem(of: place) == "one of the directories above it is no directory. Use another")
    }

    @Test func aLinkIsRefusedEvenToAGoodDirectory() throws {
        let good = ServerPlace(directory: "\(temporary.parent)/good")
        try good.prepare()
        try FileManager.default.createSymbolicLink(atPath: place.directory, withDestinationPath: good.directory)
        let problem = "it is a link, and links are not followed. Give the path of the directory itself"
        #expect(Self.problem(of: place) == problem)
        // The kernel would follow it.
        #expect(
            Self.problem(of: ServerPlace(directory: "\(place.directory)/")) == "it ends in a slash. Leave that away")
    }

    @Test func aLinkToNothingIsRefused() throws {
        try FileManager.default.createSymbolicLink(atPath: place.directory, withDestinationPath: "/nowhere")
        #expect(
            Self.problem(of: place) == "it is a link, and links are not followed. Give the path of the directory itself"
        )
    }

    @Test(arguments: [0o755, 0o770, 0o701] as [mode_t])
    func aDirectoryThatOthersMayLookIntoIsRefusedAndStaysAsItIs(mode: mode_t) throws {
        try place.prepare()
        #expect(chmod(place.directory, mode) == 0)
        let problem = try #require(Self.problem(of: place))
        #expect(problem.hasPrefix("others may look into it (mode \(String(mode, radix: 8)))"))
        #expect(problem.hasSuffix("chmod 700 \(place.directory)"))
        #expect(try permissions(of: place.directory) == mode)
    }

    @Test(.enabled(if: OtherUser.isPossible, OtherUser.condition))
    func anotherUsersDirectoryIsRefused() throws {
        try place.prepare()
        #expect(chown(place.directory, OtherUser.number, 0) == 0)
        #expect(
            Self.problem(of: place)
                == "it belongs to user 65534, and this process runs as user 0. Use another directory")
    }

    @Test(.enabled(if: OtherUser.isPossible, OtherUser.condition))
    func whoMayNotMakeItIsTold() {
        let place = place
        #expect(
            OtherUser.perform { Self.problem(of: place) }
                == "it is not there, and this process may not make it in \(temporary.parent). Use another directory")
    }

    @Test(.enabled(if: OtherUser.isPossible, OtherUser.condition))
    func aDirectoryThatCannotBeWrittenToIsRefused() throws {
        try place.prepare()
        #expect(chown(place.directory, OtherUser.number, 0) == 0 && chmod(place.directory, 0o500) == 0)
        let place = place
        #expect(
            OtherUser.perform { Self.problem(of: place) }
                == "it cannot be written to (Permission denied). Open it to yourself with: chmod 700 \(place.directory)"
        )
    }

    @Test func thePathOfTheSocketMayHave107Bytes() throws {
        func place(withSocketPathOf bytes: Int) -> ServerPlace {
            let beginning = "\(temporary.parent)/"
            let rest = bytes - beginning.utf8.count - "/socket".utf8.count
            return ServerPlace(directory: beginning + String(repeating: "d", count: rest))
        }
        #expect(Self.problem(of: place(withSocketPathOf: 107)) == nil)
        _ = try LocalSocket.bound(at: place(withSocketPathOf: 107).socketPath)
        #expect(
            Self.problem(of: place(withSocketPathOf: 108))
                == "the socket's path in it would have 108 bytes, and the system "
                + "allows 107. Use a directory with a shorter path")
    }

    @Test(arguments: ["", "relative", "./relative", "/nul\0here"])
    func aPathThatIsNotWholeIsRefused(path: String) {
        let problem = Self.problem(of: ServerPlace(directory: path))
        #expect(problem?.contains("it is no path from / on. Give the whole path of a directory") == true)
    }

    @Test func aFullDiskIsSaidToBeOne() {
        #expect(SystemError.text(ENOSPC) == "the disk is full. Make room on it")
    }
}
