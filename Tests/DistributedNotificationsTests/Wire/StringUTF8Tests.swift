import SharedTesting
import XCTest

@testable import DistributedNotifications

/// `String(utf8:)` accepts the same bytes as the validation of the standard library.
final class StringUTF8Tests: XCTestCase {
    /// - Returns: nil if both are the same.
    private static func difference(_ bytes: [UInt8], from offset: Int = 0) -> String? {
        bytes.withUnsafeBytes { all in
            let bytes = UnsafeRawBufferPointer(rebasing: all[offset...])
            let own = String(utf8: bytes)
            let expected = String(validating: bytes, as: UTF8.self)
            // Strings of other bytes may be equal.
            guard own.map({ Array($0.utf8) }) == expected.map({ Array($0.utf8) }) else {
                return "\(String(describing: own)) is not \(String(describing: expected)): \(Array(bytes))"
            }
            return nil
        }
    }

    func testOneByteOfEveryValueAtEveryIndexOfEveryShortTextHasTheSameResultAsInTheStandardLibrary() {
        for count in 1...24 {
            for directory in 0..<count {
                for value in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: 97, count: count)
                    bytes[directory] = value
                    if let difference = Self.difference(bytes) {
                        XCTFail("\(difference)")
                        return
                    }
                }
            }
        }
    }

    func testRandomBytesAndMutatedTextsHaveTheSameResultAtEveryAlignment() {
        var random = SeededGenerator(seed: 21)
        let pieces = ["a", "dishes", "\u{0}", "é", "e\u{301}", "€", "漢", "🍽️", "\u{10FFFF}", "\u{7FF}"]
        var valid = 0
        var others = 0
        for _ in 0..<FaultRounds.inputs {
            var bytes: [UInt8] = []
            while !random.once(in: 6) { bytes += (pieces.randomElement(using: &random) ?? "").utf8 }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let directory = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: directory)
                case 1: bytes.removeSubrange(directory..<min(directory + 1, bytes.count))
                default: bytes += (0..<Int.random(in: 0...3, using: &random)).map { UInt8(0x80 + 40 * $0) }
                }
            }
            for offset in 0...min(7, bytes.count) {
                if let difference = Self.difference(bytes, from: offset) {
                    XCTFail("\(difference)")
                    return
                }
            }
            if String(validating: bytes, as: UTF8.self) == nil { others += 1 } else { valid += 1 }
        }
        XCTAssertGreaterThan(valid, FaultRounds.inputs / 10)
        XCTAssertGreaterThan(others, FaultRounds.inputs / 10)
    }

    func testNoBytesAreTheEmptyString() {
        XCTAssertEqual(String(utf8: UnsafeRawBufferPointer(start: nil, count: 0)), "")
        XCTAssertNil(Self.difference([]))
    }
}
