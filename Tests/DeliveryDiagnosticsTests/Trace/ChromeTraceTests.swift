import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class ChromeTraceTests: XCTestCase {
    private func text(of recording: Recording) -> String {
        var text: [UInt8] = []
        ChromeTrace.write(RecordingIndex(recording)) { text += $0 }
        return String(decoding: text, as: UTF8.self)
    }

    func testTheTraceHasTheThreadsTheSpansOfPostsHandlersAndWaitsAndTheArrowsToDeliveries() {
        var story = RecordedStory(
            """
            worker enqueue #1 A >main; main post #1 A n1 @4 +5us; append #1 o7 A >main; deliver #1 o7 A >main
            worker wait 'for ever' +10ns; post #2 B n0; return #1 o7 A; append #3 - >worker; worker threadEnd
            """)
        story.process = ProcessIdentity(id: 200, name: "other")
        story.add(.deliver, on: ThreadIdentity(number: 1, name: "main", kernelID: 0), "C", post: 1)
        XCTAssertEqual(
            text(of: story.recording),
            """
            {"displayTimeUnit":"ns","traceEvents":[
            {"ph":"M","pid":1,"name":"process_name","args":{"name":"program 100"}},
            {"ph":"M","pid":2,"name":"process_name","args":{"name":"other 200"}},
            {"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"worker"}},
            {"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"main"}},
            {"ph":"M","pid":2,"tid":3,"name":"thread_name","args":{"name":"main"}},
            {"ph":"B","ts":0.000,"pid":1,"tid":1,"cat":"enqueue","name":"enqueue A","bind_id":"0x1",\
            "flow_out":true,"args":{"line":1,"record":"[100] worker enqueue #1 A for main"}},
            {"ph":"E","ts":0.000,"pid":1,"tid":1},
            {"ph":"B","ts":5.000,"pid":1,"tid":2,"cat":"post","name":"post A","bind_id":"0x1","flow_in":true,\
            "flow_out":true,"args":{"line":2,"record":"[100] main post #1 A to 1 observer; at Demo/main.swift:4"}},
            {"ph":"E","ts":5.000,"pid":1,"tid":2},
            {"ph":"B","ts":2005.000,"pid":1,"tid":2,"cat":"deliver","name":"A","bind_id":"0x1","flow_in":true,\
            "args":{"line":4,"record":"[100] main deliver #1 A observer 7"}},
            {"ph":"B","ts":2005.010,"pid":1,"tid":1,"cat":"wait","name":"wait","args":{"line":5,"record":"[100] \
            worker wait \\"for ever\\""}},
            {"ph":"B","ts":3005.010,"pid":1,"tid":2,"cat":"post","name":"post B","bind_id":"0x2","flow_out":true,\
            "args":{"line":6,"record":"[100] main post #2 B to 0 observers"}},
            {"ph":"E","ts":3005.010,"pid":1,"tid":2},
            {"ph":"E","ts":4005.010,"pid":1,"tid":2},
            {"ph":"B","ts":5005.010,"pid":1,"tid":2,"cat":"append","name":"append block","bind_id":"0x3",\
            "flow_out":true,"args":{"line":8,"record":"[100] main append #3 for worker"}},
            {"ph":"E","ts":5005.010,"pid":1,"tid":2},
            {"ph":"E","ts":6005.010,"pid":1,"tid":1},
            {"ph":"B","ts":7005.010,"pid":2,"tid":3,"cat":"deliver","name":"C","bind_id":"0x4","flow_in":true,\
            "args":{"line":10,"record":"[200] main deliver #1 C"}},
            {"ph":"E","ts":7005.010,"pid":2,"tid":3}
            ]}

            """)
    }

    func testInAnyRecordingSpansNestAndTimesAscend() throws {
        for seed in stride(from: 0 as UInt64, through: 300, by: TestRounds.rounds(10, stress: 1)) {
            let recording = Recording(RandomRecords.records(Int(seed), seed: seed))
            let trace = try JSONSerialization.jsonObject(with: Data(text(of: recording).utf8)) as? [String: Any]
            let events = try XCTUnwrap(trace?["traceEvents"] as? [[String: Any]]).filter { $0["ph"] as? String != "M" }
            var (depths, times): ([Int: Int], [Int: Double]) = ([:], [:])
            for event in events {
                let (phase, thread) = (try XCTUnwrap(event["ph"] as? String), try XCTUnwrap(event["tid"] as? Int))
                let time = try XCTUnwrap(event["ts"] as? Double)
                XCTAssertGreaterThanOrEqual(time, times.updateValue(time, forKey: thread) ?? 0, "seed \(seed)")
                depths[thread, default: 0] += phase == "B" ? 1 : -1
                XCTAssertGreaterThanOrEqual(depths[thread, default: 0], 0, "seed \(seed)")
            }
            XCTAssertTrue(depths.values.allSatisfy { $0 == 0 }, "seed \(seed)")
        }
    }
}
