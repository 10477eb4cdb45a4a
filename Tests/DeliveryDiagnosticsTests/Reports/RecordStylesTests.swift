import DeliveryRecording
import Foundation
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class RecordStylesTests: XCTestCase {
    private let main = ThreadIdentity(number: 1, name: "main", kernelID: 865)
    private let other = ThreadIdentity(number: 17, name: nil, kernelID: 45174)

    private func record(
        _ sequence: Int, _ stage: DeliveryStage, _ thread: ThreadIdentity, message: String? = nil
    ) -> TestRecord {
        TestRecord(
            sequence: sequence, time: 5_000_000_000 + UInt64(sequence) * 1_234_567,
            wallTime: 1_455_401_112_856_999_999, process: ProcessIdentity(id: 865, name: "test"),
            thread: thread, stage: stage, name: stage == .log ? nil : "TestNotification",
            post: stage == .log ? nil : 1, message: message)
    }

    func testTheDocumentStyleMatchesTheDocumentsExactly() throws {
        let style = DocumentStyle(timeZone: .gmt)
        let recording = Recording([record(1, .log, main, message: "current thread = \(main)"), record(2, .post, main)])
        XCTAssertEqual(
            style.lines(of: recording),
            ["2016-02-13 22:05:12.856 test[865:865] current thread = {number = 1, name = main}"])
        let tokyo = DocumentStyle(timeZone: try XCTUnwrap(TimeZone(secondsFromGMT: 9 * 3600)))
        XCTAssertEqual(tokyo.time(recording.wallTime(of: recording.entries[0])), "2016-02-14 07:05:12.856")
        for milliseconds in 0..<1000 {
            let time = style.time(1_455_401_112_000_000_000 + Int64(milliseconds) * 1_000_000)
            XCTAssertEqual(time.suffix(4), ".\(String("00\(milliseconds)".suffix(3)))")
        }
    }

    func testTheStagesStyleHasAnAlignedLineForEachRecordWithItsObserverAndItsTargetOnAnotherThread() {
        var records = [
            record(1, .post, main), record(2, .append, main), record(3, .deliver, other), record(4, .signal, main),
            record(5, .append, main), record(6, .log, other, message: "hello"),
        ]
        for index in 1...2 { (records[index].observer, records[index].target) = (4, other) }
        for index in 3...4 { (records[index].name, records[index].target) = (nil, other) }
        records[3].post = nil
        records[5].time += 10_000_000_000
        let recording = Recording(records)
        XCTAssertEqual(
            recording.entries.map(StagesStyle(recording, recording.entries).line),
            [
                "    0.000 ms  [865:865]    1 main     post     TestNotification #1",
                "    1.235 ms  [865:865]    1 main     append   TestNotification #1 observer 4 for thread 17",
                "    2.469 ms  [865:45174]  thread 17  deliver  TestNotification #1 observer 4",
                "    3.704 ms  [865:865]    1 main     signal   for thread 17",
                "    4.938 ms  [865:865]    1 main     append   block #1 for thread 17",
                "10006.173 ms  [865:45174]  thread 17  log      hello",
            ])
    }
}
