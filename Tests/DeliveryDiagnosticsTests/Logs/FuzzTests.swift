import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Reads random input.
final class FuzzTests: XCTestCase {
    private static let inputs = TestRounds.rounds(300, stress: 100_000)

    private static let recording = Array(
        ([#"{"recording":3,"process":865,"name":"test","n":1,"t":0,"wall":0}"#]
            + (1...3).map { number in
                #"{"n":\#(number),"t":\#(number)000,"thread":1,"stage":"deliver","name":"a \"name\"","post":\#(number),"#
                    + #""message":"said\n","file":"f","line":3,"sender":"7","type":"T"}"#
            }).joined(separator: "\n").utf8)

    private static let log = Array(
        """
        2016-02-13 22:05:12.856 test[865:45102] current thread = {number = 1, name = main}
        2016-02-13 22:05:12.857123+0100 te[st][865:1f] <NSThread: 0x600000c44000>{name = (null), num = 7305}
        # a comment

        """.utf8)

    /// Damages a file: bytes are changed, removed, repeated and moved.
    private static func mutate(_ bytes: [UInt8], with generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        let words = [
            "{", "}", "[", "]", "\"", "\\", "\\u", "\n", "\r\n", "\u{0}", ",", ":", "-", "1e999",
            "99999999999999999999",
        ]
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            guard !bytes.isEmpty else { return bytes }
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, index + Int.random(in: 0...40, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.removeSubrange(index..<end)
            case 3: bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &generator))
            case 4:
                bytes.insert(contentsOf: words[Int.random(in: 0..<words.count, using: &generator)].utf8, at: index)
            default: bytes = Array(bytes[..<index])
            }
        }
        return bytes
    }

    /// Reads damaged copies: some can be read, and some are refused.
    private func read(_ bytes: [UInt8], seed: UInt64, _ body: ([UInt8], inout SeededGenerator) throws -> Void) {
        var generator = SeededGenerator(seed: seed)
        var (read, refused) = (0, 0)
        for _ in 0..<Self.inputs {
            do {
                try body(Self.mutate(bytes, with: &generator), &generator)
                read += 1
            } catch {
                refused += 1
            }
        }
        XCTAssertTrue(read > 0 && refused > 0)
    }

    func testTheReaderOfRecordingsNeverCrashesAndItsResultCanBeExamined() {
        read(Self.recording, seed: 5) { bytes, _ in
            let recording = try Recording(bytes: bytes)
            XCTAssertEqual(recording.records.count, recording.entries.count)
            XCTAssertGreaterThanOrEqual(recording.problemCount, recording.problems.count)
            _ = RunComparison(try Recording(bytes: Self.recording), recording).description
        }
    }

    func testTheReaderOfLogsNeverCrashesAndItsMessagesCanBeCompared() throws {
        let log = try TextLog(name: "log", text: String(decoding: Self.log, as: UTF8.self))
        read(Self.log, seed: 6) { bytes, _ in
            let mutated = try TextLog(name: "mutated", text: String(decoding: bytes, as: UTF8.self))
            _ = try RunComparison(log, mutated).description
        }
    }
}
