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

    private func rules(_ script: String) -> TraceRules { TraceRules(text(of: RecordedStory(script).recording)) }

    func testTheTraceOfAnythingKeepsTheRulesOfTheFormat() {
        let step = TestRounds.rounds(10, stress: 1)
        for seed in stride(from: 0 as UInt64, through: 300, by: step) {
            let rules = TraceRules(text(of: Recording(RandomRecords.records(Int(seed), seed: seed))))
            XCTAssertEqual(rules.problems.prefix(3), [], "seed \(seed)")
        }
    }

    func testADeliveryIsTheSpansOfItsPostAndHandlerAndAnArrow() {
        let story = RecordedStory(
            """
            register o7 N >main @3; worker post #1 N n1 @4 +10us; worker append #1 o7 N >main +1us; worker signal >main +1us
            drain +8us; deliver #1 o7 N >main +100ns; return #1 o7 N +30us
            """)
        XCTAssertEqual(
            String(decoding: text(of: story.recording("a \"b\"")), as: UTF8.self),
            """
            {"displayTimeUnit":"ns","traceEvents":[
            {"ph":"M","pid":100,"name":"process_name","args":{"name":"program"}},
            {"ph":"M","pid":100,"tid":100,"name":"thread_name","args":{"name":"main"}},
            {"ph":"M","pid":100,"tid":100,"name":"thread_sort_index","args":{"sort_index":1}},
            {"ph":"M","pid":100,"tid":101,"name":"thread_name","args":{"name":"worker"}},
            {"ph":"M","pid":100,"tid":101,"name":"thread_sort_index","args":{"sort_index":2}},
            {"ph":"B","ts":10.000,"pid":100,"tid":101,"cat":"post","name":"post N","args":{"record":2,"post":1,\
            "location":"Demo/main.swift:4"}},
            {"ph":"s","ts":10.000,"pid":100,"tid":101,"cat":"delivery","name":"delivery","id":6},
            {"ph":"E","ts":11.000,"pid":100,"tid":101},
            {"ph":"B","ts":20.100,"pid":100,"tid":100,"cat":"deliver","name":"N","args":{"record":6,"post":1,\
            "observer":7,"posted at":"Demo/main.swift:4","registered at":"Demo/main.swift:3","ns since post":10100}},
            {"ph":"f","ts":20.100,"pid":100,"tid":100,"cat":"delivery","name":"delivery","id":6,"bp":"e"},
            {"ph":"E","ts":50.100,"pid":100,"tid":100}
            ],"otherData":{"source":"a \\"b\\"","records":"7"}}

            """)
    }

    func testSpansNestAndArrowsLeadFromAnEnqueueToItsPostAndFromAPostToItsHandlers() {
        let rules = rules(
            """
            worker enqueue #1 A >main; post #1 A +5us; deliver #1 o1 A +10ns; post #2 B +10ns; deliver #2 o2 B +10ns
            return #2 o2 B +10ns; append #3 - >worker +10ns; return #1 o1 A +10ns; worker deliver #3 - +10us
            worker return #3 - +100ns
            """)
        XCTAssertEqual(rules.problems, [])
        XCTAssertEqual(
            rules.closed,
            [
                "post A 5000-5010", "post B 5020-5030", "B 5030-5040", "append block 5050-5060", "A 5010-5060",
                "enqueue A 0-1000", "block 15060-15160",
            ])
        XCTAssertEqual(
            rules.flows, [["enqueue A", "post A"], ["post A", "A"], ["post B", "B"], ["append block", "block"]])
    }

    func testAHandlerThatNeverReturnsLastsUntilItsThreadEndsAndSaysSo() {
        let story = RecordedStory(
            """
            worker deliver #1 o1 N; worker wait 'for ever' +10ns; worker return #9 o1 N +10ns; worker threadEnd +480ns
            deliver #2 o1 N +10ns; log 'later' +390ns
            """)
        let text = text(of: story.recording)
        XCTAssertEqual(TraceRules(text).problems, [])
        XCTAssertEqual(TraceRules(text).closed, ["wait 10-500", "N 0-500", "N 510-900"])
        XCTAssertEqual(String(decoding: text, as: UTF8.self).split(separator: "\"end\":\"not recorded\"").count, 4)
    }

    func testThreadsOfTwoProcessesHaveTheKernelsIdsOrOthersThatAreDistinct() {
        var story = RecordedStory("log; worker log")
        func thread(_ number: Int, _ name: String, _ kernelID: Int32) -> ThreadIdentity {
            ThreadIdentity(number: number, name: name, kernelID: kernelID)
        }
        story.add(.log, on: thread(3, "worker", 101))
        story.process = ProcessIdentity(id: 200, name: "other")
        story.add(.log, on: thread(2, "worker", 0))
        story.add(.log, on: thread(1, "main", 0))
        let rules = TraceRules(text(of: story.recording))
        XCTAssertEqual(rules.problems, [])
        XCTAssertEqual(
            rules.threadNames,
            [
                .init(process: 100, thread: 100): "main", .init(process: 100, thread: 101): "worker",
                .init(process: 100, thread: 1_000_000_002): "worker (3)",
                .init(process: 200, thread: 1_000_000_003): "worker",
                .init(process: 200, thread: 1_000_000_004): "main",
            ])
    }
}
