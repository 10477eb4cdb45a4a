import CDeliveryRecorder
import CRecorderInterface
import Foundation
import SharedTesting
import XCTest

/// The lines of a recording.
final class LineTests: XCTestCase {
    private let fields = RecordFields()

    private func line(_ record: recorder_record, number: UInt64 = 7, nanoseconds: UInt64 = 8) -> String {
        var record = record
        return text(capacity: 64 + recorder_maximum_length(&record)) {
            recorder_write_record($0, number, nanoseconds, &record)
        }
    }

    private func text(capacity: Int, _ write: (UnsafeMutablePointer<CChar>) -> Int) -> String {
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)
        defer { memory.deallocate() }
        let length = write(memory)
        XCTAssertLessThanOrEqual(length, capacity)
        return String(
            decoding: UnsafeBufferPointer(start: memory, count: length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The value of `name` in the line of a record with this name, as it is written.
    private func written(_ name: String) throws -> String {
        let line = line(fields.record("post", name: name))
        let end = try XCTUnwrap(line.range(of: "\"name\":\""))
        XCTAssertTrue(line.hasSuffix("\"}\n"))
        return String(line[end.upperBound...].dropLast(3))
    }

    private func read(_ written: String) throws -> String? {
        try JSONSerialization.jsonObject(with: Data("\"\(written)\"".utf8), options: .fragmentsAllowed) as? String
    }

    func testARecordHasItsKeysInTheOrderOfTheSchemaAndOnlyThoseWithAValue() {
        var record = fields.record("post", name: "n", thread: 2)
        XCTAssertEqual(line(record), "{\"n\":7,\"t\":8,\"thread\":2,\"stage\":\"post\",\"name\":\"n\"}\n")
        record.post = 10
        record.observer = 11
        record.target.number = 12
        record.message = fields.text("m")
        record.file = fields.text("f.swift")
        record.line = 13
        record.has_count = true
        record.has_sender = true
        record.type = fields.text("T")
        record.by = 14
        record.overtakes = true
        record.style = fields.text("asap")
        record.policy = fields.text("dropOldest")
        record.reason = fields.text("signal")
        record.signal = 15
        record.origin = fields.text("9-10")
        record.foundation = true
        record.center = 0xC0FFEE
        record.queue = fields.text("main")
        record.at = fields.text("program+0x10")
        record.function = fields.text("main+0x1")
        XCTAssertEqual(
            line(record),
            """
            {"n":7,"t":8,"thread":2,"stage":"post","name":"n","post":10,"observer":11,"target":12,"message":"m",\
            "file":"f.swift","line":13,"count":0,"sender":"0","type":"T","by":14,"overtakes":true,"style":"asap",\
            "policy":"dropOldest","reason":"signal","signal":15,"origin":"9-10","foundation":true,\
            "center":"c0ffee","queue":"main","at":"program+0x10","function":"main+0x1"}

            """)
    }

    func testAnEmptyStringIsAValue() {
        XCTAssertEqual(
            line(fields.record("post", name: "")), "{\"n\":7,\"t\":8,\"thread\":1,\"stage\":\"post\",\"name\":\"\"}\n")
    }

    func testNumbersAreWrittenAsTheyArePrinted() {
        var generator = SeededGenerator(seed: 1)
        var numbers: [UInt64] = [0, .max, .max - 1]
        var power: UInt64 = 1
        for _ in 0...18 {
            power *= 10
            numbers += [power - 1, power, power + 1]
        }
        for _ in 0..<10_000 { numbers.append(generator.next() >> UInt64.random(in: 0..<64, using: &generator)) }
        var record = fields.record("post")
        record.has_count = true
        record.has_sender = true
        for number in numbers {
            (record.count, record.sender) = (number, number)
            XCTAssertEqual(
                line(record, number: number, nanoseconds: number),
                "{\"n\":\(number),\"t\":\(number),\"thread\":1,\"stage\":\"post\",\"count\":\(number),"
                    + "\"sender\":\"\(String(number, radix: 16))\"}\n")
        }
    }

    func testEveryByteIsEscapedCorrectlyAtEveryPositionOfStringsOfEveryLength() throws {
        for byte in UInt8(0)..<0x80 {
            for length in 1...18 {
                for position in 0..<length {
                    let bytes = (0..<length).map { $0 == position ? byte : UInt8(ascii: "x") }
                    let string = String(decoding: bytes, as: UTF8.self)
                    let escaped =
                        switch byte {
                        case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\\(UnicodeScalar(byte))"
                        case 0..<0x20, 0x7F: "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
                        default: String(UnicodeScalar(byte))
                        }
                    let expected = string.replacing(String(UnicodeScalar(byte)), with: escaped)
                    XCTAssertEqual(try written(string), byte == UInt8(ascii: "x") ? string : expected)
                }
            }
        }
    }

    func testAStringIsReadByAJSONReader() throws {
        var generator = SeededGenerator(seed: 2)
        let pieces = [
            "a", "\"", "\\", "\n", "\u{0}", "\u{7F}", "\u{1F}", " ", "ж", "漢", "👩‍👩‍👧", "plain and long ", "/", "\u{2028}",
        ]
        for _ in 0..<5000 {
            let string = (0..<Int.random(in: 0...12, using: &generator))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
            let written = try written(string)
            XCTAssertEqual(try read(written), string)
            XCTAssertFalse(written.utf8.contains { $0 < 0x20 || $0 == 0x7F })
        }
    }

    func testAStringOfMoreThan4096BytesIsTruncatedBetweenCharacters() throws {
        XCTAssertEqual(try written(String(repeating: "a", count: 4096)), String(repeating: "a", count: 4096))
        XCTAssertEqual(try written(String(repeating: "a", count: 4097)), String(repeating: "a", count: 4096) + "…")
        for character in ["ж", "漢", "🍰"] {
            for before in 0..<4 {
                let width = character.utf8.count
                let string = String(repeating: "a", count: before) + String(repeating: character, count: 5000)
                let kept = (4096 - before) / width
                XCTAssertEqual(
                    try written(string),
                    String(repeating: "a", count: before) + String(repeating: character, count: kept) + "…")
            }
        }
    }

    func testALineIsNotLongerThanItsMaximumIfEveryByteIsEscaped() {
        for length in [0, 1, 4095, 4096, 4097, 10_000] {
            let string = String(repeating: "\u{1}", count: length)
            var record = fields.record(string, name: string)
            (record.message, record.file, record.type) = (fields.text(string), fields.text(string), fields.text(string))
            (record.style, record.policy, record.reason) = (record.message, record.message, record.message)
            (record.queue, record.at, record.function) = (record.message, record.message, record.message)
            // The function compares the length.
            XCTAssertTrue(line(record, number: .max, nanoseconds: .max).hasSuffix("}\n"))
        }
    }

    func testHeadersAndThreadsHaveNamesOfAtMost256Bytes() {
        func header(_ name: String) -> String {
            text(capacity: Int(RECORDER_MAXIMUM_HEADER)) {
                recorder_write_header($0, 4711, fields.text(name), 1, 2, 3)
            }
        }
        func thread(_ name: String?, pool: Bool = false) -> String {
            var thread = recorder_thread(
                number: 2, kernel_id: 4712, name: name.map { fields.text($0) } ?? recorder_text(), pool: pool)
            return text(capacity: Int(RECORDER_MAXIMUM_HEADER)) { recorder_write_thread($0, &thread) }
        }
        XCTAssertEqual(
            header("kitchen"), "{\"recording\":3,\"process\":4711,\"name\":\"kitchen\",\"n\":1,\"t\":2,\"wall\":3}\n")
        XCTAssertEqual(thread("cook"), "{\"thread\":2,\"name\":\"cook\",\"kernelID\":4712}\n")
        XCTAssertEqual(thread(nil), "{\"thread\":2,\"kernelID\":4712}\n")
        XCTAssertEqual(thread(nil, pool: true), "{\"thread\":2,\"kernelID\":4712,\"pool\":true}\n")
        let long = String(repeating: "\n", count: 257)
        let truncated = String(repeating: "\\u000a", count: 256) + "…"
        XCTAssertTrue(header(long).contains("\"\(truncated)\""))
        XCTAssertTrue(thread(long).contains("\"\(truncated)\""))
    }
}
