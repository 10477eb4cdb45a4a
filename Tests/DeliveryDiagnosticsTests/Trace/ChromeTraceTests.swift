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

    private func rules(of records: [DeliveryRecord]) -> TraceRules {
        TraceRules(text(of: Recording(records)))
    }

    func testTheTraceOfAnythingKeepsTheRulesOfTheFormat() {
        let step = TestRounds.rounds(10, stress: 1)
        for seed in stride(from: 1 as UInt64, through: 301, by: step) {
            let rules = rules(of: RandomRecords.records(Int(seed), seed: seed))
            XCTAssertEqual(rules.problems.prefix(3), [], "seed \(seed)")
        }
    }

    func testTheTraceOfNothingIsATrace() {
        XCTAssertEqual(rules(of: []).problems, [])
    }

    // MARK: Content

    private let (main, worker) = (HandMadeRecords.main, HandMadeRecords.worker)

    func testADeliveryIsSlicesAnArrowAndACount() {
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
            {"ph":"M","pid":100,"name":"process_sort_index","args":{"sort_index":0}},
            {"ph":"M","pid":100,"tid":100,"name":"thread_name","args":{"name":"main"}},
            {"ph":"M","pid":100,"tid":100,"name":"thread_sort_index","args":{"sort_index":1}},
            {"ph":"M","pid":100,"tid":101,"name":"thread_name","args":{"name":"worker"}},
            {"ph":"M","pid":100,"tid":101,"name":"thread_sort_index","args":{"sort_index":2}},
            {"ph":"i","ts":0.000,"pid":100,"tid":100,"cat":"register","name":"register N","s":"t","args":{"record":1,\
            "observer":7,"target":"main","location":"A.swift:3"}},
            {"ph":"B","ts":10.000,"pid":100,"tid":101,"cat":"post","name":"post N","args":{"record":2,"post":1,\
            "count":1,"location":"B.swift:4"}},
            {"ph":"s","ts":10.000,"pid":100,"tid":101,"cat":"delivery","name":"delivery","id":3},
            {"ph":"B","ts":10.001,"pid":100,"tid":101,"cat":"append","name":"append N","args":{"record":3,"post":1,\
            "observer":7,"target":"main","posted at":"B.swift:4","registered at":"A.swift:3"}},
            {"ph":"t","ts":10.001,"pid":100,"tid":101,"cat":"delivery","name":"delivery","id":3},
            {"ph":"C","ts":10.001,"pid":100,"tid":100,"name":"mailbox of main","args":{"waiting":1}},
            {"ph":"E","ts":10.301,"pid":100,"tid":101},
            {"ph":"i","ts":10.301,"pid":100,"tid":101,"cat":"signal","name":"signal","s":"t","args":{"record":4,\
            "target":"main"}},
            {"ph":"B","ts":20.000,"pid":100,"tid":100,"cat":"drain","name":"drain","args":{"record":5}},
            {"ph":"B","ts":20.100,"pid":100,"tid":100,"cat":"deliver","name":"N","args":{"record":6,"post":1,\
            "observer":7,"target":"main","posted at":"B.swift:4","registered at":"A.swift:3","ns since post":10100,\
            "ns waited":10099}},
            {"ph":"f","ts":20.100,"pid":100,"tid":100,"cat":"delivery","name":"delivery","id":3,"bp":"e"},
            {"ph":"C","ts":20.100,"pid":100,"tid":100,"name":"mailbox of main","args":{"waiting":0}},
            {"ph":"E","ts":50.123,"pid":100,"tid":100},
            {"ph":"E","ts":50.123,"pid":100,"tid":100},
            {"ph":"E","ts":10.301,"pid":100,"tid":101}
            ],"otherData":{"source":"a \\"b\\"","records":"7","begin, monotonic ns":"1000000000"}}

            """)
    }

    func testAHandlerThatPostsAndIsCalledAtOnceEnclosesWhatItDoes() {
        var records = HandMadeRecords()
        records.add(0, main, .post, "A", post: 1)
        records.add(10, main, .deliver, "A", post: 1, observer: 1)
        records.add(20, main, .post, "B", post: 2)
        records.add(30, main, .deliver, "B", post: 2, observer: 2)
        records.add(40, main, .return, "B", post: 2, observer: 2)
        records.add(60, main, .return, "A", post: 1, observer: 1)
        records.add(5_000, main, .log, nil, message: "later")
        let rules = rules(of: records.records)
        XCTAssertEqual(rules.closed, ["B 30-40", "post B 20-40", "A 10-60", "post A 0-60"])
        XCTAssertEqual(rules.flows, [["post A", "A"], ["post B", "B"]])
    }

    func testAPostLastsWhileItDropsAnotherAndADrainWhileItDelivers() {
        var records = HandMadeRecords()
        records.add(0, worker, .post, post: 1)
        records.add(5, worker, .append, post: 1, observer: 1, target: main)
        records.add(10, worker, .post, post: 2)
        records.add(20, worker, .drop, post: 1, observer: 1, target: main)
        records.add(30, worker, .append, post: 2, observer: 1, target: main)
        records.add(9_000, worker, .log, nil, message: "later")
        records.add(10_000, main, .drain, nil)
        records.add(10_010, main, .deliver, post: 2, observer: 1, target: main)
        records.add(10_020, main, .return, post: 2, observer: 1)
        records.add(20_000, main, .drain, nil)
        records.add(30_000, main, .log, nil, message: "later")
        let rules = rules(of: records.records)
        XCTAssertEqual(
            rules.closed,
            [
                "append N 5-10", "post N 0-10", "append N 30-1030", "N 10010-10020", "drain 10000-10020",
                "post N 10-1030", "drain 20000-21000",
            ])
        XCTAssertEqual(rules.flows, [["post N", "append N"], ["post N", "append N", "N"]])
        XCTAssertEqual(rules.counters, ["mailbox of main": 0])
    }

    func testAPostingQueueHasItsOwnArrowAndCount() {
        var records = HandMadeRecords()
        records.add(0, worker, .enqueue, post: 1, target: main)
        records.add(5, worker, .enqueue, post: 2, target: main)
        records.add(10, worker, .enqueue, post: 3, target: main)
        records.add(20, main, .coalesce, post: 2, relatedPost: 1)
        records.add(30, main, .post, post: 1)
        let rules = rules(of: records.records)
        XCTAssertEqual(rules.flows, [["enqueue N", "post N"]])
        XCTAssertEqual(rules.counters, ["posting queue of main": 1])
    }

    func testTheDocumentsTechniqueWaitsFromCaptureToDelivery() {
        var records = HandMadeRecords()
        records.add(0, main, .register)
        for post in [1, 2] {
            records.add(UInt64(post) * 1_000, worker, .post, post: post)
            records.add(UInt64(post) * 1_000 + 10, worker, .capture, post: post)
        }
        records.add(9_000, main, .drain)
        records.add(9_010, main, .deliver, post: 1)
        let rules = rules(of: records.records)
        XCTAssertEqual(rules.flows, [["post N", "capture N", "N"], ["post N", "capture N"]].reversed())
        XCTAssertEqual(rules.counters, ["mailbox of main": 1], "the second one waits for the thread that registered")
    }

    func testAHandlerThatNeverReturnsLastsUntilItsThreadEndsAndSaysSo() {
        var records = HandMadeRecords()
        records.add(0, worker, .deliver, post: 1, observer: 1)
        records.add(10, worker, .wait, nil, message: "for ever")
        records.add(20, worker, .return, post: 9, observer: 1)
        records.add(500, worker, .threadEnd, nil)
        records.add(510, main, .deliver, post: 2, observer: 1)
        let text = text(of: Recording(records.records))
        XCTAssertEqual(TraceRules(text).problems, [])
        XCTAssertEqual(TraceRules(text).closed, ["wait 10-500", "N 0-500", "N 510-1510"])
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
                Track(process: 100, thread: 3): "worker (3)", Track(process: 200, thread: 2): "worker",
                Track(process: 200, thread: 1): "main",
            ])
    }

    // MARK: TraceRules

    func testTheRulesSeeWhatBreaksThem() {
        var records = HandMadeRecords()
        records.add(0, worker, .post, post: 1)
        records.add(10, worker, .append, post: 1, observer: 1, target: main)
        records.add(20, main, .deliver, post: 1, observer: 1)
        records.add(30, main, .return, post: 1, observer: 1)
        let good = String(decoding: text(of: Recording(records.records)), as: UTF8.self)
        XCTAssertEqual(TraceRules(Array(good.utf8)).problems, [])
        for (part, other, problem) in [
            ("\"ph\":\"E\"", "\"ph\":\"B\"", "never end"), ("\"ph\":\"t\"", "\"ph\":\"s\"", "out of its flow's order"),
            ("\"ph\":\"f\"", "\"ph\":\"t\"", "never ends"),
            ("\"id\":2,\"bp\"", "\"id\":3,\"bp\"", "out of its flow's order"),
            ("\"ts\":0.030", "\"ts\":0.001", "is before the one before it"),
            ("\"waiting\":0", "\"waiting\":-1", "or less"),
            ("\"bp\":\"e\"", "\"bp\":\"n\"", "next slice"), ("thread_name", "thread_game", "has no name"),
            ("process_name", "process_game", "no metadata"), ("\"ph\":\"B\"", "\"ph\":\"i\"", "lies in no slice"),
            ("\"displayTimeUnit\":\"ns\"", "\"displayTimeUnit\":\"us\"", "no unit"), ("]", "", "no JSON"),
        ] {
            let bad = good.replacing(part, with: other)
            XCTAssertNotEqual(good, bad)
            let problems = TraceRules(Array(bad.utf8)).problems
            XCTAssertTrue(problems.contains { $0.contains(problem) }, "\(part) as \(other): \(problems)")
        }
    }
}
