import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class LineBufferTests: XCTestCase {
    private func text(_ write: (inout LineBuffer) -> Void) -> String {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 65_536)
        defer { memory.deallocate() }
        var line = LineBuffer(memory)
        write(&line)
        return String(decoding: line.bytes, as: UTF8.self)
    }

    func testNumbersAreWrittenAsTheyArePrinted() {
        var generator = SeededGenerator(seed: 1)
        var numbers: [UInt64] = [0, 9, 10, 99, 100, .max, .max - 1]
        for _ in 0..<10_000 { numbers.append(generator.next() >> UInt64.random(in: 0..<64, using: &generator)) }
        for number in numbers {
            XCTAssertEqual(text { $0.append(number) }, String(number))
            XCTAssertEqual(text { $0.appendHexadecimal(number) }, String(number, radix: 16))
        }
    }

    func testAStringIsReadByAJSONReaderAndTakesAtMostItsMaximumLength() throws {
        var generator = SeededGenerator(seed: 2)
        let pieces = [
            "a", "\"", "\\", "\n", "\u{0}", "\u{7F}", "\u{1F}", " ", "ж", "漢", "👩‍👩‍👧", "plain and long ", "/", "\u{2028}",
        ]
        for _ in 0..<10_000 {
            let string = (0..<Int.random(in: 0...12, using: &generator))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
            let written = text { $0.append(escaped: string) }
            let read = try JSONSerialization.jsonObject(with: Data("\"\(written)\"".utf8), options: .fragmentsAllowed)
            XCTAssertEqual(read as? String, string)
            XCTAssertLessThanOrEqual(written.utf8.count, LineBuffer.maximumLength(string))
            XCTAssertFalse(written.utf8.contains { $0 < 0x20 || $0 == 0x7F })
        }
    }

    func testEveryByteIsEscapedCorrectlyAtEveryPosition() throws {
        for byte in UInt8(0)..<0x80 {
            for place in 0..<9 {
                let bytes = (0..<9).map { $0 == place ? byte : UInt8(ascii: "x") }
                let string = String(decoding: bytes, as: UTF8.self)
                let written = text { $0.append(escaped: string) }
                let read = try JSONSerialization.jsonObject(
                    with: Data("\"\(written)\"".utf8), options: .fragmentsAllowed)
                XCTAssertEqual(read as? String, string)
                XCTAssertEqual(written == string, byte >= 0x20 && byte != 0x22 && byte != 0x5C && byte != 0x7F)
            }
        }
    }
}
