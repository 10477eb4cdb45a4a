internal import DistributedNotifications
internal import Foundation
internal import NATSClient
internal import SharedTesting
internal import XCTest

@testable internal import NotificationBridge

final class BridgeOptionsTests: XCTestCase {
    func testASubjectHasTheNameAndNothingThatMeansSomethingElseInSubjects() {
        for (name, subject) in [
            ("Saved", "n.Saved"), ("com.example.Saved-2_b", "n.com.example.Saved-2_b"), ("a b", "n.a%20b"),
            (".a", "n.%2Ea"), ("a.", "n.a%2E"), ("a...b", "n.a.%2E.b"), ("*", "n.%2A"), (".", "n.%2E"), (">", "n.%3E"),
            ("%20", "n.%2520"), ("$JS", "n.%24JS"), ("é", "n.%C3%A9"), ("\t\u{7F}", "n.%09%7F"),
        ] {
            XCTAssertEqual(NotificationSubject.of(name, prefix: "n"), subject)
        }
    }

    func testEachNameHasASubjectOfItsOwn() {
        var random = SeededGenerator(seed: 2)
        var names: [String: String] = [:]
        for _ in 0..<20_000 {
            let name = String(
                (0..<Int.random(in: 1...5, using: &random)).map { _ in ".%2Ea*é".randomElement(using: &random)! })
            let subject = NotificationSubject.of(name, prefix: "n")
            XCTAssertNotNil(subject.wholeMatch(of: /[A-Za-z0-9_%-]+(\.[A-Za-z0-9_%-]+)*/), subject)
            XCTAssertEqual(names.updateValue(name, forKey: subject) ?? name, name, subject)
        }
    }

    func testOptionsThatCannotWorkSayWhatToDo() throws {
        let server = try NATSServer("nats://127.0.0.1:1")
        for (change, words) in [
            ({ _ in }, nil), ({ $0.servers = [] }, "--nats nats://HOST:4222"), ({ $0.names = [] }, "--name NAME"),
            ({ $0.names = [""] }, "1 to 255 bytes"), ({ $0.names = ["a\0"] }, "none is NUL"),
            ({ $0.names = [String(repeating: "é", count: 128)] }, "1 to 255 bytes"),
            ({ $0.names = (0...Wire.observerLimit).map { "\($0)" } }, "more than \(Wire.observerLimit) names"),
            ({ $0.prefix = "$JS" }, "no prefix"), ({ $0.prefix = "ü.b" }, "no prefix"),
            ({ $0.prefix = "a-1.b_2" }, nil),
            ({ $0.stream = "" }, "no name of a stream"), ({ $0.stream = "a.b" }, "no name of a stream"),
            ({ $0.stream = "é" }, "no name of a stream"), ({ $0.stream = "A-b_1" }, nil),
            ({ $0.origin.machine = "" }, "1 to 255 bytes"), ({ $0.origin.user = "a\0b" }, "none is NUL"),
        ] as [((inout BridgeOptions) -> Void, String?)] {
            var options = BridgeOptions()
            (options.servers, options.names) = ([server], ["Saved"])
            change(&options)
            XCTAssertEqual(options.problem?.contains(words ?? "nothing is wrong"), words.map { _ in true })
        }
        for prefix in ["", ".", "a.", ".a", "a..b", "a.*", "a.>", "a b", "a\r\nPING", "a\t", "a\u{7F}", "a\0"] {
            var options = BridgeOptions()
            (options.servers, options.names, options.prefix) = ([server], ["Saved"], prefix)
            XCTAssertEqual(options.problem?.contains("no prefix"), true, prefix)
        }
    }
}

final class BridgeMemoryTests: XCTestCase {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = "/tmp/memory-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body("\(directory)/a/b")
    }

    func testABridgeIsTheSameOneAndReadsEachStreamOnWhereItWas() throws {
        try withDirectory { directory in
            var memory: BridgeMemory? = try BridgeMemory(directory: directory)
            let bridge = memory?.bridge
            for number in [.max, 3] as [UInt64] {
                for stream in ["S", "T"] {
                    let position = StreamPosition(created: "2026-01-01T00:00:00.123456789Z", last: number)
                    try memory?.setPosition(position, in: stream)
                    memory = nil
                    memory = try BridgeMemory(directory: directory)
                    XCTAssertEqual(memory?.bridge, bridge)
                    XCTAssertEqual(memory?.position(in: stream), position)
                }
            }
            XCTAssertEqual(memory?.position(in: "S")?.last, 3)
            XCTAssertNil(memory?.position(in: "U"))
            // Two bridges with one number would ignore each other, also those of two local servers.
            XCTAssertThrowsError(try BridgeMemory(directory: directory)) {
                XCTAssertTrue("\($0)".contains("another bridge has locked it"), "\($0)")
            }
            withExtendedLifetime(memory) {}
        }
    }

    func testAFileWithSomethingElseIsLeftAsItIs() throws {
        for contents in ["", "1 S now 1", "{}", #"{"bridge":1,"positions":{"S":{"created":"now"}}}"#, "\u{FFFD}"] {
            try withDirectory { directory in
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                try contents.write(toFile: "\(directory)/state", atomically: false, encoding: .utf8)
                XCTAssertThrowsError(try BridgeMemory(directory: directory), contents) {
                    XCTAssertTrue("\($0)".contains("\(directory)/state"), "\($0)")
                }
                XCTAssertEqual(try String(contentsOfFile: "\(directory)/state", encoding: .utf8), contents)
            }
        }
    }

    func testAPlaceThatCannotBeWrittenIsNamed() throws {
        try withDirectory { parent in
            try FileManager.default.createDirectory(atPath: "\(parent)/state", withIntermediateDirectories: true)
            for directory in ["/proc/none", "/dev/null/a", parent] {
                XCTAssertThrowsError(try BridgeMemory(directory: directory)) {
                    XCTAssertTrue("\($0)".contains(directory), "\($0)")
                }
            }
        }
    }
}
