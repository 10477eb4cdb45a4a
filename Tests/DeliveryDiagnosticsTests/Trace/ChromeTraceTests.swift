import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class ChromeTraceTests: XCTestCase {
    private func text(of recording: Recording) -> [UInt8] {
        var text: [UInt8] = []
        ChromeTrace.write(RecordingIndex(recording)) { text += $0 }
        return text
    }

    private func rules(of records: [TestRecord]) -> TraceRules {
        TraceRules(text(of: Recording(records)))
    }

    func testTheTraceOfAnythingKeepsTheRulesOfTheFormat() {
        let step = TestRounds.rounds(10, stress: 1)
        for seed in stride(from: 0 as UInt64, through: 300, by: step) {
            let rules = rules(of: RandomRecords.records(Int(seed), seed: seed))
            XCTAssertEqual(rules.problems.prefix(3), [], "seed \(seed)")
        }
    }

    // MARK: Content

    private let (main, worker) = (HandMadeRecords.main, HandMadeRecords.worker)

    func testADeliveryIsTheSpansOfItsPostAndHandlerAndAnArrow() {
        var records = HandMadeRecords()
        records.add(1_000_000_000, main, .register, observer: 7, target: main, location: SourceLocation("A.swift", 3))
        records.add(1_000_010_000, worker, .post, post: 1, location: SourceLocation("B.swift", 4), count: 1)
        records.add(1_000_010_001, worker, .append, post: 1, observer: 7, target: main)
        records.add(1_000_010_301, worker, .signal, nil, target: main)
        records.add(1_000_020_000, main, .drain, nil)
        records.add(1_000_020_100, main, .deliver, post: 1, observer: 7, target: main)
        records.add(1_000_050_123, main, .return, post: 1, observer: 7)
        let text = String(decoding: text(of: Recording(records.records, source: "a \"b\"")), as: UTF8.self)
        XCTAssertEqual(
            text,
            """
            {"displayTimeUnit":"ns","traceEvents":[
            {"ph":"M","pid":100,"name":"process_name","args":{"name":"test"}},
            {"ph":"M","pid":100,"tid":100,"name":"thread_name","args":{"name":"main"}},
            {"ph":"M","pid":100,"tid":100,"name":"thread_sort_index","args":{"sort_index":1}},
            {"ph":"M","pid":100,"tid":101,"name":"thread_name","args":{"name":"worker"}},
            {"ph":"M","pid":100,"tid":101,"name":"thread_sort_index","args":{"sort_index":2}},
            {"ph":"B","ts":10.000,"pid":100,"tid":101,"cat":"post","name":"post N","args":{"record":2,"post":1,\
            "location":"B.swift:4"}},
            {"ph":"s","ts":10.000,"pid":100,"tid":101,"cat":"delivery","name":"delivery","id":6},
            {"ph":"E","ts":10.001,"pid":100,"tid":101},
            {"ph":"B","ts":20.100,"pid":100,"tid":100,"cat":"deliver","name":"N","args":{"record":6,"post":1,\
            "observer":7,"posted at":"B.swift:4","registered at":"A.swift:3","ns since post":10100}},
            {"ph":"f","ts":20.100,"pid":100,"tid":100,"cat":"delivery","name":"delivery","id":6,"bp":"e"},
            {"ph":"E","ts":50.123,"pid":100,"tid":100}
            ],"otherData":{"source":"a \\"b\\"","records":"7"}}

            """)
    }

    func testSpansNestAndArrowsLeadFromAnEnqueueToItsPostAndFromAPostToItsHandlers() {
        var records = HandMadeRecords()
        records.add(0, worker, .enqueue, post: 1, target: main)
        records.add(5_000, main, .post, "A", post: 1)
        records.add(5_010, main, .deliver, "A", post: 1, observer: 1)
        records.add(5_020, main, .post, "B", post: 2)
        records.add(5_030, main, .deliver, "B", post: 2, observer: 2)
        records.add(5_040, main, .return, "B", post: 2, observer: 2)
        records.add(5_050, main, .append, nil, post: 3, target: worker)
        records.add(5_060, main, .return, "A", post: 1, observer: 1)
        records.add(8_000, worker, .deliver, nil, post: 3)
        records.add(8_100, worker, .return, nil, post: 3)
        let rules = rules(of: records.records)
        XCTAssertEqual(rules.problems, [])
        XCTAssertEqual(
            rules.closed,
            [
                "post A 5000-5010", "post B 5020-5030", "B 5030-5040", "append block 5050-5060", "A 5010-5060",
                "enqueue N 0-1000", "block 8000-8100",
            ])
        XCTAssertEqual(
            rules.flows, [["enqueue N", "post A"], ["post A", "A"], ["post B", "B"], ["append block", "block"]])
    }

    func testAHandlerThatNeverReturnsLastsUntilItsThreadEndsAndSaysSo() {
        var records = HandMadeRecords()
        records.add(0, worker, .deliver, post: 1, observer: 1)
        records.add(10, worker, .wait, nil, message: "for ever")
        records.add(20, worker, .return, post: 9, observer: 1)
        records.add(500, worker, .threadEnd, nil)
        records.add(510, main, .deliver, post: 2, observer: 1)
        records.add(900, main, .log, nil, message: "later")
        let text = text(of: Recording(records.records))
        XCTAssertEqual(TraceRules(text).problems, [])
        XCTAssertEqual(TraceRules(text).closed, ["wait 10-500", "N 0-500", "N 510-900"])
        XCTAssertEqual(String(decoding: text, as: UTF8.self).split(separator: "\"end\":\"not recorded\"").count, 4)
    }

    func testThreadsOfTwoProcessesHaveTheKernelsIdsOrOthersThatAreDistinct() {
        var records = HandMadeRecords()
        let unknown = ThreadIdentity(number: 2, name: "worker", kernelID: 0)
        records.add(0, main, .log, process: 100)
        records.add(1, worker, .log, process: 100)
        records.add(2, ThreadIdentity(number: 3, name: "worker", kernelID: 101), .log, process: 100)
        records.add(3, unknown, .log, process: 200)
        records.add(4, ThreadIdentity(number: 1, name: "main", kernelID: 0), .log, process: 200)
        let rules = rules(of: records.records)
        XCTAssertEqual(rules.problems, [])
        typealias Track = TraceRules.Track
        XCTAssertEqual(
            rules.threadNames,
            [
                Track(process: 100, thread: 100): "main", Track(process: 100, thread: 101): "worker",
                Track(process: 100, thread: 1_000_000_002): "worker (3)",
                Track(process: 200, thread: 1_000_000_003): "worker",
                Track(process: 200, thread: 1_000_000_004): "main",
            ])
    }
}
