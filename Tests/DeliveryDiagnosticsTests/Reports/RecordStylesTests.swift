import DeliveryRecording
import Foundation
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class RecordStylesTests: XCTestCase {
    private let main = ThreadIdentity(number: 1, name: "main", kernelID: 865)
    private let other = ThreadIdentity(number: 17, name: nil, kernelID: 45174)

    private func record(
        _ sequence: Int, _ stage: DeliveryStage, _ thread: ThreadIdentity, message: String? = nil, process: Int32 = 865
    ) -> DeliveryRecord {
        DeliveryRecord(
            sequence: sequence, monotonicNanoseconds: 5_000_000_000 + UInt64(sequence) * 1_234_567,
            wallNanoseconds: 1_455_401_112_856_999_999, process: ProcessIdentity(id: process, name: "test"),
            thread: thread, stage: stage, notification: stage == .log ? nil : "TestNotification",
            post: stage == .log ? nil : 1, message: message)
    }

    private func stages(_ records: [DeliveryRecord]) -> [String] {
        let recording = Recording(records)
        let style = StagesStyle(recording, recording.entries)
        return recording.entries.map(style.line)
    }

    func testTheDocumentStyleMatchesTheDocumentsExactly() throws {
        let style = DocumentStyle(timeZone: .gmt)
        XCTAssertEqual(
            style.line(for: record(1, .log, main, message: "current thread = \(main)")),
            "2016-02-13 22:05:12.856 test[865:865] current thread = {number = 1, name = main}")
        XCTAssertNil(style.line(for: record(2, .post, main)))
        let tokyo = DocumentStyle(timeZone: try XCTUnwrap(TimeZone(secondsFromGMT: 9 * 3600)))
        XCTAssertEqual(tokyo.line(for: record(1, .log, main, message: "x")), "2016-02-14 07:05:12.856 test[865:865] x")
    }

    func testTheStagesStyleHasAnAlignedLineForEachRecordWithoutTrailingSpaces() {
        let records = [record(1, .post, main), record(2, .deliver, other), record(3, .log, other, message: "hello")]
        XCTAssertEqual(
            stages(records),
            [
                "   0 µs  [865:865]    1 main     post     TestNotification #1",
                "1235 µs  [865:45174]  thread 17  deliver  TestNotification #1",
                "2469 µs  [865:45174]  thread 17  log      hello",
            ])
    }

    func testAllTimesOfTheStagesStyleHaveTheUnitThatFitsTheLastOneAndMicroseconds() {
        func times(_ last: UInt64) -> [String] {
            var records = [record(1, .post, main), record(2, .post, main), record(3, .post, main)]
            records[2].monotonicNanoseconds = records[0].monotonicNanoseconds + last
            return stages(records).map {
                $0.components(separatedBy: "  [")[0].trimmingCharacters(in: .whitespaces)
            }
        }
        XCTAssertEqual(times(9_999_999), ["0 µs", "1235 µs", "10000 µs"])
        XCTAssertEqual(times(12_345_678), ["0.000 ms", "1.235 ms", "12.346 ms"])
        XCTAssertEqual(times(61_000_000_000), ["0.000000 s", "0.001235 s", "61.000000 s"])
    }

    func testTheStagesStyleShowsObserversAndTargetsOnOtherThreads() {
        var records = [record(1, .append, main), record(2, .deliver, other), record(3, .signal, main)]
        for index in records.indices {
            (records[index].observer, records[index].target) = (4, other)
        }
        (records[2].notification, records[2].post, records[2].observer) = (nil, nil, nil)
        records.append(record(4, .append, main))
        (records[3].notification, records[3].target) = (nil, other)
        XCTAssertEqual(
            stages(records),
            [
                "   0 µs  [865:865]    1 main     append   TestNotification #1 observer 4 for thread 17",
                "1235 µs  [865:45174]  thread 17  deliver  TestNotification #1 observer 4",
                "2469 µs  [865:865]    1 main     signal   for thread 17",
                "3704 µs  [865:865]    1 main     append   block #1 for thread 17",
            ])
    }

    func testStableNumberingNumbersPostsAndObserversByAppearanceInEachProcess() throws {
        func run(_ process: Int32, _ post: Int, _ observer: Int) -> [DeliveryRecord] {
            [0, 1, 0].enumerated().map { index, number in
                var record = record(index + 1, .append, main, process: process)
                (record.post, record.observer) = (post + number, observer + number)
                record.target = ThreadIdentity(number: 5 + number, name: nil, kernelID: process + Int32(number))
                return record
            }
        }
        let stable = StableNumbering.renumber(run(865, 17, 3) + run(1200, 40, 90))
        XCTAssertEqual(stable.map(\.post), [1, 2, 1, 1, 2, 1])
        XCTAssertEqual(stable.map(\.observer), [1, 2, 1, 1, 2, 1])
        XCTAssertEqual(stable.map(\.target?.number), [2, 3, 2, 2, 3, 2])
        XCTAssertEqual(StableNumbering.renumber(run(1, 2, 3)), StableNumbering.renumber(run(7, 8, 9)))
    }

    func testStableNumberingMakesRunsEqualThatDifferOnlyInIds() {
        func run(_ process: Int32, _ number: Int) -> [DeliveryRecord] {
            let main = ThreadIdentity(number: 1, name: "main", kernelID: process)
            let worker = ThreadIdentity(number: number, name: "w", kernelID: process + 7)
            return [
                record(1, .log, main, message: "current thread = \(main)", process: process),
                record(2, .log, worker, message: "on \(worker), object 0x7f\(process)", process: process),
            ]
        }
        let stable = StableNumbering.renumber(run(865, 5))
        XCTAssertEqual(stable, StableNumbering.renumber(run(1200, 9)))
        let style = DocumentStyle(timeZone: .gmt)
        XCTAssertEqual(
            stable.compactMap { style.line(for: $0) },
            [
                "2001-01-01 00:00:00.001 test[1:1] current thread = {number = 1, name = main}",
                "2001-01-01 00:00:00.002 test[1:2] on {number = 2, name = w}, object 0x…",
            ])
    }
}
