import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class TruncatedRecordingTests: XCTestCase {
    private static let worker = RecordedStory.thread(2, "worker")

    private func run(_ posts: Int, delivered: Int, end: Bool) -> RecordedStory {
        var script = RecordedStory()
        for post in 1...posts { script.add(.post, post: post, count: 1) }
        for post in 1...posts { script.add(.append, post: post, observer: 1, target: Self.worker) }
        for post in 1...delivered { script.handle(post, by: 1, on: Self.worker) }
        if end { script.add(.end, reason: .exit) }
        return script
    }

    private func compare(_ first: Recording, _ second: Recording, isExact: Bool = false) -> RunComparison {
        var options = RunComparison.Options()
        options.isExact = isExact
        return RunComparison(first, second, options: options)
    }

    private func truncated(_ comparison: RunComparison) -> RunDifference? {
        if case .truncated(let difference) = comparison.outcome { difference } else { nil }
    }

    private func isDifferent(_ comparison: RunComparison) -> Bool {
        if case .different = comparison.outcome { true } else { false }
    }

    func testARecordingWithoutAnEndThatIsTheBeginningOfTheOtherAgreesWithItUpToItsTruncation() throws {
        let (complete, short) = (run(3, delivered: 3, end: true), run(3, delivered: 2, end: false))
        let report = ComparisonReport(compare(complete.recording("A"), short.recording("B")))
        XCTAssertEqual(
            report.description,
            """
            the runs agree up to a truncation
              A:11  worker deliver #3 Done observer 1
              B:10  (no counterpart)
            The runs are the same up to where B is truncated: 10 records.
            There is no end record of B.
            """)
        let json = try JSONText.of(report)
        XCTAssertTrue(
            json.contains(#""reason":"truncated","second":{"line":10,"source":"B"}}],"outcome":"undecided"}"#),
            "\(json)")
        let swapped = try XCTUnwrap(truncated(compare(short.recording("A"), complete.recording("B"))))
        XCTAssertEqual(swapped.second.line, 11)
        XCTAssertEqual(swapped.explanation.first, "The runs are the same up to where A is truncated: 10 records.")
        XCTAssertNotNil(truncated(compare(complete.recording("A"), short.recording("B"), isExact: true)))
    }

    func testIfOneProcessOfTwoWasKilledTheRunsAgreeUpToItsTruncationAndTheOtherIsComparedCompletely() throws {
        func run(_ killed: Int, messages: [String] = ["1", "2"]) -> Recording {
            var script = RecordedStory()
            script.process = ProcessIdentity(id: 8, name: "child")
            for number in 1...killed { script.add(.log, message: "\(number)") }
            if killed == 3 { script.add(.end, reason: .exit) }
            script.process = ProcessIdentity(id: 7, name: "parent")
            for message in messages { script.add(.log, message: "parent \(message)") }
            script.add(.end, reason: .exit)
            return script.recording(killed == 3 ? "complete" : "killed")
        }
        let found = try XCTUnwrap(truncated(compare(run(3), run(2))))
        XCTAssertEqual(
            found.explanation,
            [
                "The runs are the same up to where killed is truncated: 4 records.",
                "There is no end record of process 8 of killed.",
            ])
        XCTAssertNotNil(truncated(compare(run(2), run(3))))
        for messages in [["1"], ["1", "3"], ["1", "2", "3"]] {
            XCTAssertTrue(isDifferent(compare(run(3), run(2, messages: messages))))
            XCTAssertTrue(isDifferent(compare(run(2), run(3, messages: messages))))
        }
    }

    func testADifferenceInRecordsThatBothHaveIsADifferenceEvenIfOneIsTruncated() {
        func run(_ count: Int, handledOn thread: ThreadIdentity, end: Bool) -> Recording {
            var script = RecordedStory()
            for number in 1...count { script.add(.log, message: "\(number)") }
            script.add(.post, on: Self.worker, post: 1, count: 1)
            script.add(.append, on: Self.worker, post: 1, observer: 1, target: Self.worker)
            script.handle(1, by: 1, on: thread)
            if end { script.add(.end, reason: .exit) }
            return script.recording(end ? "complete" : "truncated")
        }
        // The truncated recording's missing records come first and are not reported.
        let complete = run(3, handledOn: Self.worker, end: true)
        let short = run(1, handledOn: RecordedStory.main, end: false)
        for (first, second, lines) in [(complete, short, [6, 4]), (short, complete, [4, 6])] {
            guard case .different(let differences) = compare(first, second).outcome else {
                XCTFail("not different")
                return
            }
            XCTAssertEqual([differences[0].first.line, differences[0].second.line], lines)
            XCTAssertEqual([differences[0].first.source, differences[0].second.source], [first.source, second.source])
        }
    }

    func testAThreadWithoutRecordsBeforeTheTruncationMatchesAnyThreadEvenAsATargetOrInAMessage() {
        func run(_ target: ThreadIdentity, isComplete: Bool) -> Recording {
            var script = RecordedStory()
            script.add(.log, message: "made {number = 2, name = worker}")
            script.add(.register, observer: 1, target: target)
            if isComplete {
                script.add(.log, on: Self.worker, message: "x")
                script.add(.end, reason: .exit)
            }
            return script.recording(isComplete ? "complete" : "truncated")
        }
        let complete = run(Self.worker, isComplete: true)
        for target in [Self.worker, RecordedStory.thread(2)] {
            XCTAssertNotNil(truncated(compare(complete, run(target, isComplete: false))))
            XCTAssertNotNil(truncated(compare(run(target, isComplete: false), complete)))
        }
        XCTAssertTrue(isDifferent(compare(complete, run(RecordedStory.thread(2, "other"), isComplete: false))))
    }

    func testOnlyATruncatedRecordingMayLackRecords() {
        for (more, fewer) in [(false, true), (true, true)] {
            let runs = (run(3, delivered: 3, end: more).recording("A"), run(3, delivered: 2, end: fewer).recording("A"))
            XCTAssertTrue(isDifferent(compare(runs.0, runs.1)))
            XCTAssertTrue(isDifferent(compare(runs.1, runs.0)))
        }
    }

    func testIncompleteRecordingsAreNotTheSameEvenIfEverythingThatTheyHaveIs() {
        for (count, others) in [(3, 3), (3, 2), (2, 3)] {
            let outcome = compare(
                run(3, delivered: count, end: false).recording("A"),
                run(3, delivered: others, end: false).recording("B"))
            XCTAssertEqual(
                truncated(outcome)?.explanation.suffix(2),
                ["There is no end record of A.", "There is no end record of B."])
        }
        var lost = run(3, delivered: 3, end: false)
        lost.add(.lost, nil, count: 2)
        lost.end()
        XCTAssertEqual(
            truncated(compare(lost.recording("A"), lost.recording("B")))?.explanation.last, "Records of B are missing.")
    }

    func testARecordingWithAnIncompleteLastLineMissingRecordsOrLostRecordsIsTruncated() throws {
        var lines = RecordLines()
        let records = run(3, delivered: 3, end: false).records
        let bytes = records.map { Array(lines.bytes(of: $0)) }
        let complete = run(3, delivered: 3, end: true).recording("A")
        let short = try Recording(
            bytes: Array(bytes.dropLast().joined() + bytes[bytes.count - 1].prefix(9)), name: "B")
        XCTAssertEqual(
            truncated(compare(complete, short))?.explanation,
            [
                "The runs are the same up to where B is truncated: 11 records.", "The last line of B is incomplete.",
            ])
        var late = run(3, delivered: 2, end: false)
        for _ in 1...2 { late.add(.drain, on: Self.worker) }
        var rest = RecordLines()
        var kept = late.records.map { Array(rest.bytes(of: $0)) }
        kept.remove(at: kept.count - 2)
        let missing = try Recording(bytes: Array(kept.joined()), name: "B")
        XCTAssertEqual(truncated(compare(complete, missing))?.explanation.last, "Records of B are missing.")
        late.add(.lost, count: 2)
        XCTAssertNotNil(truncated(compare(complete, late.recording("B"))))
    }

    func testTwoRecordingsThatAreTruncatedAtDifferentPointsAgreeUpToThere() throws {
        func recording(_ name: String, _ thread: ThreadIdentity) -> Recording {
            var script = RecordedStory()
            script.add(.log, message: "x")
            script.add(.log, on: Self.worker, message: "x")
            script.add(.log, on: thread, message: "y")
            script.add(.lost, count: 1)
            return script.recording(name)
        }
        let found = try XCTUnwrap(truncated(compare(recording("A", RecordedStory.main), recording("B", Self.worker))))
        XCTAssertEqual(
            found.explanation,
            [
                "The runs are the same up to where they are truncated: 2 records.", "Records of A are missing.",
                "Records of B are missing.",
            ])
        XCTAssertEqual([found.first.line, found.second.line], [3, 3])
    }

    func testARunNeverDiffersFromItsOwnBeginning() {
        var found = (same: 0, truncated: 0, undecided: 0)
        for seed in 0..<UInt64(TestRounds.rounds(6, stress: 200)) {
            let records = RandomRun(RandomProgram(seed: seed, areAllNamed: seed % 2 == 0), seed: seed).records
            guard var end = records.last else { continue }
            (end.sequence, end.stage, end.reason, end.message) = (end.sequence + 1, .end, .exit, nil)
            let complete = Recording(records + [end], source: "complete")
            for count in stride(from: 1, through: records.count, by: 1 + records.count / 10) {
                let short = Recording(Array(records.prefix(count)), source: "truncated")
                for outcome in [compare(complete, short), compare(short, complete)] {
                    switch outcome.outcome {
                    case .same: found.same += 1
                    case .truncated: found.truncated += 1
                    case .undecided: found.undecided += 1
                    case .different(let differences):
                        XCTFail("seed \(seed), \(count) of \(records.count): \(differences)")
                        return
                    }
                }
            }
        }
        XCTAssertGreaterThan(found.truncated, 30, "\(found)")
        XCTAssertLessThan(found.undecided, found.truncated / 10, "\(found)")
    }
}
