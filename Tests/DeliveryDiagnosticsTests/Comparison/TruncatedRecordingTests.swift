import DeliveryRecording
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

@Suite("Comparing a truncated recording")
struct TruncatedRecordingTests {
    private static let worker = RecordedScript.thread(2, "worker")

    private func run(_ posts: Int, delivered: Int, end: Bool) -> RecordedScript {
        var script = RecordedScript()
        for post in 1...posts { script.record(.post, post: post, count: 1) }
        for post in 1...posts { script.record(.append, post: post, observer: 1, target: Self.worker) }
        for post in 1...delivered { script.deliver(post, on: Self.worker) }
        if end { script.record(.end, reason: .exit) }
        return script
    }

    private func compare(_ first: Recording, _ second: Recording, isExact: Bool = false) -> RunComparison.Outcome {
        var options = RunComparison.Options()
        options.budget = .init(tries: 1000) { false }
        options.isExact = isExact
        return RunComparison(.recording(first), .recording(second), options: options).outcome
    }

    private func truncated(_ outcome: RunComparison.Outcome) -> RunDifference? {
        if case .truncated(let difference) = outcome { difference } else { nil }
    }

    private func isDifferent(_ outcome: RunComparison.Outcome) -> Bool {
        if case .different = outcome { true } else { false }
    }

    @Test("a recording without an end that is the beginning of the other agrees with it up to its truncation")
    func noEnd() throws {
        let (complete, short) = (run(3, delivered: 3, end: true), run(3, delivered: 2, end: false))
        let report = ComparisonReport(compare(complete.recording("A"), short.recording("B")))
        #expect(
            report.description == """
                the runs agree up to a truncation
                  A:11  worker  deliver Name #3 for observer 1
                  B:10          (no further records)
                The runs are the same up to where B is truncated: 10 records.
                B has no end record.
                """)
        let json = try JSONText.of(report)
        #expect(
            json.contains(#""outcome":"undecided","reason":"truncated","second":{"line":10,"source":"B"}"#), "\(json)")
        let swapped = try #require(truncated(compare(short.recording("A"), complete.recording("B"))))
        #expect(swapped.second.line == 11)
        #expect(swapped.explanation.first == "The runs are the same up to where A is truncated: 10 records.")
        #expect(truncated(compare(complete.recording("A"), short.recording("B"), isExact: true)) != nil)
    }

    @Test("if one process of two was killed, the runs agree up to its truncation, and the other is compared completely")
    func oneProcess() throws {
        func run(_ killed: Int, messages: [String] = ["1", "2"]) -> Recording {
            var script = RecordedScript()
            script.process = ProcessIdentity(id: 8, name: "child")
            for number in 1...killed { script.record(.log, message: "\(number)") }
            if killed == 3 { script.record(.end, reason: .exit) }
            script.process = ProcessIdentity(id: 7, name: "parent")
            for message in messages { script.record(.log, message: "parent \(message)") }
            script.record(.end, reason: .exit)
            return script.recording(killed == 3 ? "complete" : "killed")
        }
        let found = try #require(truncated(compare(run(3), run(2))))
        #expect(
            found.explanation == [
                "The runs are the same up to where killed is truncated: 4 records.",
                "process 8 of killed has no end record.",
            ])
        #expect(truncated(compare(run(2), run(3))) != nil)
        for messages in [["1"], ["1", "3"], ["1", "2", "3"]] {
            #expect(isDifferent(compare(run(3), run(2, messages: messages))))
            #expect(isDifferent(compare(run(2), run(3, messages: messages))))
        }
    }

    @Test("a difference in records that both have is a difference even if one is truncated")
    func difference() {
        func run(_ count: Int, handledOn thread: ThreadIdentity, end: Bool) -> Recording {
            var script = RecordedScript()
            for number in 1...count { script.record(.log, message: "\(number)") }
            script.record(.post, on: Self.worker, post: 1, count: 1)
            script.record(.append, on: Self.worker, post: 1, observer: 1, target: Self.worker)
            script.deliver(1, on: thread)
            if end { script.record(.end, reason: .exit) }
            return script.recording(end ? "complete" : "truncated")
        }
        // The truncated recording's missing records come first and are not reported.
        let complete = run(3, handledOn: Self.worker, end: true)
        let short = run(1, handledOn: RecordedScript.main, end: false)
        for (first, second, lines) in [(complete, short, [6, 4]), (short, complete, [4, 6])] {
            guard case .different(let differences) = compare(first, second) else {
                Issue.record("not different")
                return
            }
            #expect([differences[0].first.line, differences[0].second.line] == lines)
            #expect([differences[0].first.source, differences[0].second.source] == [first.source, second.source])
        }
    }

    @Test("a thread without records before the truncation matches any thread, even as a target or in a message")
    func threadAfterTruncation() {
        func run(_ target: ThreadIdentity, isComplete: Bool) -> Recording {
            var script = RecordedScript()
            script.record(.log, message: "made {number = 2, name = worker}")
            script.record(.register, observer: 1, target: target)
            if isComplete {
                script.record(.log, on: Self.worker, message: "x")
                script.record(.end, reason: .exit)
            }
            return script.recording(isComplete ? "complete" : "truncated")
        }
        let complete = run(Self.worker, isComplete: true)
        for target in [Self.worker, RecordedScript.thread(2)] {
            #expect(truncated(compare(complete, run(target, isComplete: false))) != nil)
            #expect(truncated(compare(run(target, isComplete: false), complete)) != nil)
        }
        #expect(isDifferent(compare(complete, run(RecordedScript.thread(2, "other"), isComplete: false))))
    }

    @Test("only a truncated recording may lack records")
    func complete() {
        for (more, fewer) in [(false, true), (true, true), (false, false)] {
            let runs = (run(3, delivered: 3, end: more).recording("A"), run(3, delivered: 2, end: fewer).recording("A"))
            #expect(isDifferent(compare(runs.0, runs.1)))
            #expect(isDifferent(compare(runs.1, runs.0)))
        }
    }

    @Test("a recording with an incomplete last line, missing records or lost records is truncated")
    func signs() throws {
        var lines = RecordLines()
        let records = run(3, delivered: 3, end: false).records
        let bytes = records.map { Array(lines.bytes(of: $0)) }
        let complete = try Recording(bytes: Array(bytes.joined()), name: "A")
        let short = try Recording(
            bytes: Array(bytes.dropLast().joined() + bytes[bytes.count - 1].prefix(9)), name: "B")
        #expect(
            truncated(compare(complete, short))?.explanation == [
                "The runs are the same up to where B is truncated: 11 records.", "The last line of B is incomplete.",
            ])
        var late = run(3, delivered: 2, end: false)
        for _ in 1...2 { late.record(.drain, on: Self.worker) }
        var rest = RecordLines()
        var kept = late.records.map { Array(rest.bytes(of: $0)) }
        kept.remove(at: kept.count - 2)
        let missing = try Recording(bytes: Array(kept.joined()), name: "B")
        #expect(truncated(compare(complete, missing))?.explanation.last == "Records of B are missing.")
        late.record(.lost, count: 2)
        #expect(truncated(compare(complete, late.recording("B"))) != nil)
    }

    @Test("two recordings that are truncated at different points agree up to there")
    func both() throws {
        func recording(_ name: String, _ thread: ThreadIdentity) -> Recording {
            var script = RecordedScript()
            script.record(.log, message: "x")
            script.record(.log, on: Self.worker, message: "x")
            script.record(.log, on: thread, message: "y")
            script.record(.lost, count: 1)
            return script.recording(name)
        }
        let found = try #require(truncated(compare(recording("A", RecordedScript.main), recording("B", Self.worker))))
        #expect(
            found.explanation == [
                "The runs are the same up to where they are truncated: 2 records.", "Records of A are missing.",
                "Records of B are missing.",
            ])
        #expect([found.first.line, found.second.line] == [3, 3])
    }

    @Test("a run never differs from its own beginning")
    func anywhere() {
        var found = (same: 0, truncated: 0, undecided: 0)
        for seed in 0..<UInt64(RandomRun.rounds(20)) {
            let records = RandomRun(RandomProgram(seed: seed, areAllNamed: seed % 2 == 0), seed: seed).records
            guard var end = records.last else { continue }
            (end.sequence, end.stage, end.reason, end.message) = (end.sequence + 1, .end, .exit, nil)
            let complete = Recording(records + [end], source: "complete")
            for count in stride(from: 1, through: records.count, by: 1 + records.count / 10) {
                let short = Recording(Array(records.prefix(count)), source: "truncated")
                for outcome in [compare(complete, short), compare(short, complete)] {
                    switch outcome {
                    case .same: found.same += 1
                    case .truncated: found.truncated += 1
                    case .undecided: found.undecided += 1
                    case .different(let differences):
                        Issue.record("seed \(seed), \(count) of \(records.count): \(differences)")
                        return
                    }
                }
            }
        }
        #expect(found.truncated > 100, "\(found)")
        #expect(found.undecided < found.truncated / 10, "\(found)")
    }
}
