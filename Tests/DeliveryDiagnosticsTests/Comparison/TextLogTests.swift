import DeliveryRecording
import Testing

@testable import DeliveryDiagnostics

@Suite("Comparing text logs by thread")
struct TextLogTests {
    private func compare(_ first: String, _ second: String) throws -> TextLog.Outcome {
        try TextLog.compare(
            TextLog(LogReader(name: "A", text: first)), TextLog(LogReader(name: "B", text: second)))
    }

    private func difference(_ first: String, _ second: String) throws -> LogDifference? {
        guard case .different(let difference) = try compare(first, second) else { return nil }
        return difference
    }

    /// Makes a log from lines of the form "process:thread message".
    private func log(_ lines: String...) -> String {
        lines.map { "2026-11-20 22:05:12.856 p[" + $0.replacing(" ", with: "] ", maxReplacements: 1) + "\n" }.joined()
    }

    @Test("each document's log equals itself and differs from the others, at the line of the exact comparison")
    func documents() throws {
        for one in ReferenceLog.allCases {
            for other in ReferenceLog.allCases {
                let outcome = try compare(one.text, other.text)
                switch try LogComparison.compare(
                    LogReader(name: "A", text: one.text), LogReader(name: "B", text: other.text))
                {
                case .same(let lines, let threads): #expect(outcome == .same(lines: lines, threads: threads))
                case .different(let exactly):
                    #expect(try difference(one.text, other.text)?.first.number == exactly.first.number)
                }
            }
        }
    }

    @Test("a difference in the order of lines too is described like in the exact comparison")
    func words() throws {
        #expect(
            try difference(ReferenceLog.listing2.text, ReferenceLog.listing1.text)?.description == """
                the logs differ at line 2
                  A:2  2016-02-13 23:38:31.663 test[1474:92483] current thread = {number = 1, name = main}
                  B:2  2016-02-13 22:05:12.857 test[865:45174] current thread = {number = 2, name = (null)}
                In A the line is written by the thread of line 1, in B by a thread not seen before.
                """)
    }

    @Test("threads may interleave in any way if each keeps its order")
    func interleaving() throws {
        let one = log("1:1 begin", "1:2 a", "1:2 b", "1:1 end")
        #expect(try compare(one, log("9:8 a", "9:9 begin", "9:9 end", "9:8 b")) == .same(lines: 4, threads: 2))
        let swapped = try #require(try difference(one, log("9:8 b", "9:9 begin", "9:9 end", "9:8 a")))
        #expect(swapped.reason == .message)
        #expect(swapped.first.number == 2)
        #expect(swapped.second.number == 1)
    }

    @Test("a thread with more or fewer lines is a difference")
    func length() throws {
        let one = log("1:1 a", "1:1 b", "1:2 c")
        let missing = try #require(try difference(one, log("1:1 a", "1:2 c")))
        #expect(missing.reason == .thread(LogDifference.Mismatch(firstSeen: 1, secondSeen: nil)))
        #expect(missing.first.number == 2)
        let early = try #require(try difference(one, log("1:2 c", "1:1 a")))
        #expect(early.reason == .threadEnds)
        #expect(early.first.number == 2)
        #expect(early.second.number == 1)
        let more = try #require(try difference(log("1:1 a", "1:2 c"), one))
        #expect(more.reason == .oneEnds)
        #expect(more.second.number == 2)
    }

    @Test("each thread number in messages corresponds to one thread")
    func mentions() throws {
        let one = log("1:1 {number = 2, name = w}", "1:1 {number = 3, name = w}")
        #expect(
            try compare(one, log("1:1 {number = 5, name = w}", "1:1 {number = 4, name = w}"))
                == .same(lines: 2, threads: 1))
        #expect(
            try difference(one, log("1:1 {number = 5, name = w}", "1:1 {number = 5, name = w}"))?.reason == .mention)
        #expect(
            try difference(log("1:5 {name = w, num = 5}"), log("1:5 {name = w, num = 6}"))?.reason == .mention)
        #expect(
            try compare(log("1:5 {name = w, num = 5}"), log("1:6 {name = w, num = 6}")) == .same(lines: 1, threads: 1))
    }

    @Test("a recording is compared with a log by its messages")
    func mixed() throws {
        var script = RecordedScript()
        let worker = RecordedScript.thread(4, "worker")
        script.record(.log, message: "current thread = {number = 1, name = main}")
        script.record(.append, post: 1, target: worker)
        script.record(.deliver, on: worker, post: 1)
        script.record(.log, on: worker, message: "current thread = {number = 4, name = (null)}")
        script.record(.log, on: worker, message: "test notification")
        script.record(.return, on: worker, post: 1)
        let recording = script.recording("run")
        for (reference, isSame) in [(ReferenceLog.listing1, true), (.listing2, false), (.listing4, false)] {
            let log = try TextLog(LogReader(reference)).recording
            for order in [CausalComparison.Order.logged, .loggedExactly] {
                for (one, other) in [(log, recording), (recording, log)] {
                    guard case .same(let records, _) = CausalComparison.compare(one, other, order: order) else {
                        #expect(!isSame)
                        continue
                    }
                    #expect(isSame)
                    #expect(records == 3)
                }
            }
        }
    }
}
