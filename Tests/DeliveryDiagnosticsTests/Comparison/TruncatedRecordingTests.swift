import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class TruncatedRecordingTests: XCTestCase {
    private func recording(_ story: String, _ name: String) -> Recording { RecordedStory(story).recording(name) }

    /// Three posts of main, some of which are handled by another thread.
    private func run(delivered: Int, end: Bool, _ name: String) -> Recording {
        recording("1-3: hand #* o1; 1-\(delivered): handle #* o1\(end ? "; end - !exit" : "")", name)
    }

    private func isDifferent(_ first: Recording, _ second: Recording) -> Bool {
        !RunComparison(first, second).differences.isEmpty
    }

    func testARecordingWithoutAnEndThatIsTheBeginningOfTheOtherAgreesWithItUpToItsTruncation() throws {
        let (complete, short) = (run(delivered: 3, end: true, "A"), run(delivered: 2, end: false, "B"))
        let comparison = RunComparison(complete, short)
        XCTAssertEqual(
            comparison.text,
            """
            the runs agree up to a truncation
              A:11  worker deliver #3 Done observer 1; posted at Demo/main.swift:1003
              B:10  (no counterpart)
            The runs are the same up to where B is truncated: 10 records.
            There is no end record of B.
            """)
        let json = try JSONText.of(ComparisonReport(comparison))
        XCTAssertTrue(
            json.contains(#""reason":"truncated","second":{"line":10,"source":"B"}}],"outcome":"undecided"}"#), json)
        let swapped = try XCTUnwrap(RunComparison(short, complete).truncation)
        XCTAssertEqual(swapped.second.line, 11)
        XCTAssertEqual(swapped.explanation.first, "The runs are the same up to where B is truncated: 10 records.")
    }

    func testIfOneProcessOfTwoWasKilledTheRunsAgreeUpToItsTruncationAndTheOtherIsComparedCompletely() throws {
        func run(_ killed: Int, messages: [String] = ["1", "2"]) -> Recording {
            var script = RecordedStory()
            script.process = ProcessIdentity(id: 8, name: "child")
            for number in 1...killed { script.add(.log, message: "\(number)") }
            if killed == 3 { script.end() }
            script.process = ProcessIdentity(id: 7, name: "parent")
            for message in messages { script.add(.log, message: "parent \(message)") }
            script.end()
            return script.recording(killed == 3 ? "complete" : "killed")
        }
        for (one, other) in [(run(3), run(2)), (run(2), run(3))] {
            XCTAssertEqual(
                RunComparison(one, other).truncation?.explanation,
                [
                    "The runs are the same up to where killed is truncated: 4 records.",
                    "There is no end record of process 8 of killed.",
                ])
        }
        for messages in [["1"], ["1", "3"], ["1", "2", "3"]] {
            XCTAssertTrue(isDifferent(run(3), run(2, messages: messages)))
            XCTAssertTrue(isDifferent(run(2), run(3, messages: messages)))
        }
    }

    func testADifferenceInRecordsThatBothHaveIsADifferenceEvenIfOneIsTruncated() {
        // The truncated recording's missing records come first and are not reported.
        let complete = recording("1-3: log '*'; worker hand #1 o1 >worker; handle #1 o1; end - !exit", "complete")
        let short = recording("log '1'; worker hand #1 o1 >worker; main handle #1 o1", "truncated")
        for (first, second, lines) in [(complete, short, [6, 4]), (short, complete, [4, 6])] {
            let difference = RunComparison(first, second).differences.first
            XCTAssertEqual([difference?.first.line, difference?.second.line], lines)
            XCTAssertEqual([difference?.first.source, difference?.second.source], [first.source, second.source])
        }
        // Only a truncated recording may lack records.
        for end in [false, true] {
            let (more, fewer) = (run(delivered: 3, end: end, "A"), run(delivered: 2, end: true, "B"))
            XCTAssertTrue(isDifferent(more, fewer) && isDifferent(fewer, more))
        }
    }

    func testAThreadWithoutRecordsBeforeTheTruncationMatchesAnyThreadEvenAsATargetOrInAMessage() {
        func run(_ target: ThreadIdentity, isComplete: Bool) -> Recording {
            var script = RecordedStory()
            script.add(.log, message: "made {number = 2, name = worker}")
            script.add(.register, observer: 1, target: target)
            if isComplete {
                script.add(.log, on: RecordedStory.worker, message: "x")
                script.end()
            }
            return script.recording(isComplete ? "complete" : "truncated")
        }
        let complete = run(RecordedStory.worker, isComplete: true)
        for target in [RecordedStory.worker, RecordedStory.thread(2)] {
            XCTAssertNotNil(RunComparison(complete, run(target, isComplete: false)).truncation)
            XCTAssertNotNil(RunComparison(run(target, isComplete: false), complete).truncation)
        }
        XCTAssertTrue(isDifferent(complete, run(RecordedStory.thread(2, "other"), isComplete: false)))
    }

    func testIncompleteRecordingsAreNotTheSameEvenIfEverythingThatTheyHaveIs() {
        for (count, others) in [(3, 3), (3, 2), (2, 3)] {
            let comparison = RunComparison(
                run(delivered: count, end: false, "A"), run(delivered: others, end: false, "B"))
            XCTAssertEqual(
                comparison.truncation?.explanation.suffix(2),
                ["There is no end record of A.", "There is no end record of B."])
        }
        func lost(_ name: String, _ thread: String) -> Recording {
            recording("log 'x'; worker log 'x'; \(thread) log 'y'; lost n1", name)
        }
        let found = RunComparison(lost("A", "main"), lost("B", "worker")).truncation
        XCTAssertEqual(
            found?.explanation,
            [
                "The runs are the same up to where they are truncated: 2 records.", "Records of A are missing.",
                "Records of B are missing.",
            ])
        XCTAssertEqual([found?.first.line, found?.second.line], [3, 3])
    }

    func testARecordingThatIsCutBeforeAFoundationPostHasReturnedAgreesUpToThere() throws {
        let story = RecordedStory("register o1 ^; fpost #1 o1; fpost #2 o1; end - !exit")
        let end = try XCTUnwrap(story.records.lastIndex { $0.stage == .postEnd })
        let comparison = RunComparison(story.recording("A"), Recording(Array(story.records[..<end]), source: "B"))
        XCTAssertNotNil(comparison.truncation, comparison.text)
    }

    func testARecordingThatIsTruncatedInAnyWaySaysInWhich() {
        for (truncation, sentence) in [
            (.line, "The last line of B is incomplete."), (.missing(1), "Records of B are missing."),
            (.lost(2), "Records of B are missing."),
        ] as [(Recording.Truncation, String)] {
            var short = run(delivered: 2, end: false, "B")
            short.completeness = [.truncated(truncation)]
            let found = RunComparison(run(delivered: 3, end: true, "A"), short).truncation
            XCTAssertEqual(found?.explanation.last, sentence)
        }
    }
}
