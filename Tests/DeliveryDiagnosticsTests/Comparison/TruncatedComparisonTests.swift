import DeliveryRecording
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

@Suite("Comparing a truncated recording")
struct TruncatedComparisonTests {
    private static let worker = RecordedScript.thread(2, "worker")

    private func run(_ posts: Int, delivered: Int, end: Bool) -> RecordedScript {
        var script = RecordedScript()
        for post in 1...posts { script.record(.post, post: post, count: 1) }
        for post in 1...posts { script.record(.append, post: post, observer: 1, target: Self.worker) }
        for post in 1...delivered { script.deliver(post, on: Self.worker) }
        if end { script.record(.end, reason: .exit) }
        return script
    }

    private func compare(_ first: Recording, _ second: Recording) -> CausalComparison.Outcome {
        CausalComparison.compare(first, second, budget: CausalComparison.Budget(tries: 1000) { false })
    }

    private func undecided(_ outcome: CausalComparison.Outcome) -> CausalUndecided? {
        guard case .undecided(let undecided) = outcome else { return nil }
        return undecided
    }

    @Test("a recording without an end that is the beginning of the other is the same up to its truncation")
    func noEnd() throws {
        let (complete, truncated) = (run(3, delivered: 3, end: true), run(3, delivered: 2, end: false))
        let found = try #require(undecided(compare(complete.recording("A"), truncated.recording("B"))))
        #expect(
            found.description == """
                the comparison is undecided
                  A:11  worker  deliver Name #3 for observer 1
                  B:10          (no further records)
                The runs are the same up to where B is truncated: 10 records.
                B has no end record, but the other has one.
                """)
        #expect(
            try ComparisonLine(.undecided(found)).text.contains(
                #""outcome":"undecided","reason":"cut","second":{"line":10,"source":"B"}"#))
        let swapped = try #require(undecided(compare(truncated.recording("A"), complete.recording("B"))))
        #expect(swapped.furthest.second.line == 11)
        #expect(swapped.furthest.explanation.first == "The runs are the same up to where A is truncated: 10 records.")
    }

    @Test("a difference in records that both have is a difference even if one is truncated")
    func difference() {
        func run(_ count: Int, handledOn thread: ThreadIdentity, end: Bool) -> Recording {
            var script = RecordedScript()
            for number in 1...count { script.record(.log, message: "\(number)") }
            script.post(1, from: Self.worker, to: Self.worker, handledOn: thread)
            if end { script.record(.end, reason: .exit) }
            return script.recording(end ? "whole" : "cut")
        }
        // The truncated recording's missing records come first and are not reported.
        let complete = run(3, handledOn: Self.worker, end: true)
        let truncated = run(1, handledOn: RecordedScript.main, end: false)
        for (first, second, lines) in [(complete, truncated, [6, 4]), (truncated, complete, [4, 6])] {
            guard case .different(let difference) = compare(first, second) else {
                Issue.record("not different")
                return
            }
            #expect([difference.first.line, difference.second.line] == lines)
            #expect([difference.first.source, difference.second.source] == [first.source, second.source])
        }
    }

    @Test("a thread without records before the truncation matches any thread, even as a target or in a message")
    func threadAfterCut() {
        func run(_ target: ThreadIdentity, isComplete: Bool) -> Recording {
            var script = RecordedScript()
            script.record(.log, message: "made {number = 2, name = worker}")
            script.record(.register, observer: 1, target: target)
            if isComplete {
                script.record(.log, on: Self.worker, message: "x")
                script.record(.end, reason: .exit)
            }
            return script.recording(isComplete ? "whole" : "cut")
        }
        let complete = run(Self.worker, isComplete: true)
        for target in [Self.worker, RecordedScript.thread(2)] {
            let truncated = run(target, isComplete: false)
            #expect(undecided(compare(complete, truncated))?.isTruncated == true)
            #expect(undecided(compare(truncated, complete))?.isTruncated == true)
        }
        guard case .different = compare(complete, run(RecordedScript.thread(2, "other"), isComplete: false)) else {
            Issue.record("not different")
            return
        }
    }

    @Test("a text log, which never has an end, is not truncated")
    func textLog() {
        func run(_ count: Int, end: Bool) -> Recording {
            var script = RecordedScript()
            for number in 1...count { script.record(.log, message: "\(number)") }
            if end { script.record(.end, reason: .exit) }
            return script.recording("A")
        }
        for order in [CausalComparison.Order.logged, .loggedExactly] {
            guard case .different = CausalComparison.compare(run(2, end: true), run(1, end: false), order: order) else {
                Issue.record("not different")
                return
            }
        }
        #expect(
            undecided(CausalComparison.compare(run(2, end: true), run(1, end: false), order: .exact))?.isTruncated
                == true)
    }

    @Test("records that the recording with an end lacks are a difference")
    func wholeLacks() {
        let (more, complete) = (run(3, delivered: 3, end: false), run(3, delivered: 2, end: true))
        for (first, second) in [(more, complete), (complete, more)] {
            guard case .different = compare(first.recording("A"), second.recording("B")) else {
                Issue.record("not different")
                return
            }
        }
    }

    @Test("a missing record is a difference if both or neither of the recordings have an end")
    func noSign() {
        for end in [false, true] {
            let runs = [3, 2].map { run(3, delivered: $0, end: end).recording("A") }
            guard case .different = compare(runs[0], runs[1]) else {
                Issue.record("not different")
                return
            }
        }
    }

    @Test("a recording with an incomplete last line, missing records or lost records is truncated")
    func signs() throws {
        var lines = RecordLines()
        let complete = run(3, delivered: 3, end: false).records
        let bytes = complete.map { Array(lines.bytes(of: $0)) }
        let recording = try Recording(bytes: Array(bytes.joined()), name: "A")
        #expect(recording.completeness == [.truncated(.noEnd)])

        let truncated = try Recording(
            bytes: Array(bytes.dropLast().joined() + bytes[bytes.count - 1].prefix(9)), name: "B")
        #expect(
            undecided(compare(recording, truncated))?.furthest.explanation == [
                "The runs are the same up to where B is truncated: 11 records.", "The last line of B is incomplete.",
            ])
        var late = run(3, delivered: 2, end: false)
        for _ in 1...2 { late.record(.drain, on: Self.worker) }
        var rest = RecordLines()
        var kept = late.records.map { Array(rest.bytes(of: $0)) }
        kept.remove(at: kept.count - 2)
        let missing = try Recording(bytes: Array(kept.joined()), name: "B")
        #expect(missing.completeness == [.truncated(.missing(1))])
        #expect(undecided(compare(recording, missing))?.furthest.explanation.last == "Records of B are missing.")
        let inAnotherOrder = try Recording(
            bytes: Array((kept.dropLast(2) + kept.suffix(2).reversed()).joined()), name: "B")
        #expect(inAnotherOrder.completeness == [.truncated(.missing(1))])

        late.record(.lost, count: 2)
        #expect(undecided(compare(recording, late.recording("B")))?.isTruncated == true)
    }

    @Test("two recordings that are truncated at different points are the same up to there")
    func both() throws {
        func recording(_ name: String, _ write: (inout RecordedScript) -> Void) -> Recording {
            var script = RecordedScript()
            script.record(.log, message: "x")
            script.record(.log, on: Self.worker, message: "x")
            write(&script)
            script.record(.lost, count: 1)
            return script.recording(name)
        }
        let found = try #require(
            undecided(
                compare(
                    recording("A") { $0.record(.log, message: "y") },
                    recording("B") { $0.record(.log, on: Self.worker, message: "y") })))
        #expect(
            found.furthest.explanation == [
                "The runs are the same up to where they are truncated: 2 records.", "Records of A are missing.",
                "Records of B are missing.",
            ])
        #expect([found.furthest.first.line, found.furthest.second.line] == [3, 3])
    }

    @Test("a run never differs from its own beginning", arguments: [true, false])
    func anywhere(areAllNamed: Bool) {
        var found = (same: 0, truncated: 0, undecided: 0)
        for seed in 0..<UInt64(60) {
            let records = RandomRun(RandomProgram(seed: seed, areAllNamed: areAllNamed), seed: seed).records
            guard let last = records.last else { continue }
            var end = last
            (end.sequence, end.stage, end.message) = (last.sequence + 1, .end, "exit")
            let complete = Recording(records + [end], source: "whole")
            for count in stride(from: 1, through: records.count, by: 1 + records.count / 20) {
                let truncated = Recording(Array(records.prefix(count)), source: "cut")
                for outcome in [compare(complete, truncated), compare(truncated, complete)] {
                    switch outcome {
                    case .same: found.same += 1
                    case .undecided(let undecided) where undecided.isTruncated: found.truncated += 1
                    case .undecided: found.undecided += 1
                    case .different(let difference):
                        Issue.record("seed \(seed), \(count) of \(records.count): \(difference)")
                        return
                    }
                }
            }
        }
        #expect(found.truncated > 500, "\(found)")
        #expect(found.undecided < found.truncated / 10, "\(found)")
    }
}
