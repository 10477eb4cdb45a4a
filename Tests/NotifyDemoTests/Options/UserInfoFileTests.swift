import ChildProcesses
import DistributedNotifications
import Foundation
import XCTest

@testable import notify_demo

/// A file for `post --plist`.
final class UserInfoFileTests: XCTestCase {
    private static let child: ChildProgram = {
        let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return ChildProgram(path: directory.appending(path: "notify-demo").path, arguments: [PropertyListChild.name])
    }()

    private static func read(
        _ bytes: some Collection<UInt8>, child: ChildProgram = child
    ) throws -> [String: PropertyListValue] {
        let path = FileManager.default.temporaryDirectory.appending(path: "userInfo-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(filePath: path))
        return try UserInfoFile.read(path, child: child)
    }

    private static func refusal(_ bytes: some Collection<UInt8>, child: ChildProgram = child) -> String? {
        do {
            _ = try read(bytes, child: child)
            return nil
        } catch { return "\(error)" }
    }

    private static func xml(_ value: String) -> String.UTF8View {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\(value)</plist>\n".utf8
    }

    /// A binary list of objects, of which the first contains the others.
    private static func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var (bytes, offsets) = (Array("bplist00".utf8), [UInt8]())
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            bytes += object
        }
        func wide(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number).bigEndian, Array.init) }
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 2, 1] + wide(objects.count) + wide(0) + wide(bytes.count)
    }

    func testXMLBinaryAndJSONFilesAreReadWithTheKindsOfTheirValues() throws {
        let userInfo: [String: PropertyListValue] = [
            "text": "größe \"\n", "count": -3, "ratio": 2.5, "whole": 2.0, "isFinal": true,
            "list": [1, "two", [], [:]],
            "map": ["when": .date(Date(timeIntervalSinceReferenceDate: 477_093_912)), "data": .data(Data([0, 255]))],
        ]
        let object = PropertyListValue.dictionary(userInfo).foundationObject
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let bytes = try PropertyListSerialization.data(fromPropertyList: object, format: format, options: 0)
            XCTAssertEqual(try Self.read(bytes), userInfo)
        }
        let json = "\u{FEFF} {\"a\": [1, 1.0, true, \"\\u00e9\"], \"b\": {}}"
        XCTAssertEqual(try Self.read(json.utf8), ["a": [1, 1.0, true, "é"], "b": [:]])
    }

    func testABadFileIsRefusedWithTheReason() {
        for (text, reason) in [
            ("", "is empty"), (" \n", "is empty"), ("a = b", "neither an XML nor a binary property list nor JSON"),
            ("{a = b;}", "is not JSON"), ("[1]", "contains no dictionary"),
            ("{\"a\": null}", "null"),
            ("<dict>", "unexpected EOF"),
            ("<plist><strong/></plist>", "unknown tag strong on line 1"), ("<plist><array/></plist>", "no dictionary"),
            ("<plist><dict><key>a</key><integer>9223372036854775808</integer></dict></plist>", "an integer is from"),
        ] {
            let problem = Self.refusal(text.utf8)
            XCTAssertEqual(problem?.contains(reason), true, "\(problem ?? "read")")
        }
    }

    func testTheLimitsOfAUserInfoHoldAndTheErrorNamesTheValue() {
        let large = String(repeating: "x", count: 70_000)
        let deep = String(repeating: "<array>", count: 70) + String(repeating: "</array>", count: 70)
        let many = String(repeating: "<true/>", count: 17_000)
        for (value, reason) in [
            ("<string>\(large)</string>", "cannot be posted: userInfo[\"a\"] is where the userInfo exceeds 60 KiB"),
            (deep, "nested more than 64"), ("<array>\(many)</array>", "exceeds 16384 values"),
        ] {
            let problem = Self.refusal(Self.xml("<dict><key>a</key>\(value)</dict>"))
            XCTAssertEqual(problem?.contains(reason), true, "\(problem ?? "read")")
        }
        XCTAssertEqual(
            Self.refusal([UInt8](repeating: 0x20, count: (1 << 20) + 1))?.contains("larger than 1 MiB"), true)
    }

    func testAListThatCrashesFoundationsReaderIsRefused() {
        let problem = Self.refusal(Self.binary([[0xA1, 1], [0xC1, 2], [0x51, 65]]))
        XCTAssertEqual(problem?.contains("its reader ended with signal"), true, "\(problem ?? "read")")
    }

    func testAListThatExpandsToHundredsOfMegabytesIsRefused() {
        let levels = (1...8).map { [0xA8] + [UInt8](repeating: UInt8($0), count: 8) }
        let problem = Self.refusal(Self.binary(levels + [[0x51, 65]]))
        XCTAssertNotNil(problem)
    }

    func testAMissingFileADirectoryAndAMissingReaderAreErrorsThatNameTheFile() {
        for (path, problem) in [
            ("/nowhere/F", "/nowhere/F cannot be read: No such file or directory."),
            ("/", "/ cannot be read: Is a directory."), ("", "\"\" cannot be read: No such file or directory."),
        ] {
            XCTAssertThrowsError(try UserInfoFile.read(path)) { XCTAssertEqual("\($0)", problem) }
        }
        let none = Self.refusal(Self.xml("<dict/>"), child: ChildProgram(path: "/nonexistent"))
        XCTAssertEqual(none?.contains("cannot be read: the process that reads it failed"), true, "\(none ?? "read")")
        let other = Self.refusal(Self.xml("<dict/>"), child: ChildProgram(path: "/bin/cat"))
        XCTAssertEqual(other?.contains("cannot be read: the process that reads it wrote something else"), true)
    }
}
