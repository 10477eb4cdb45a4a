import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class TruncatedRecordingTests: XCTestCase {
    private func recording(_ story: String, _ name: String) -> Recording { RecordedStory(story).recording(name) }

    private static let end = "; end - !exit"
    private static let handed = "1-3: hand #* o1; 1-2: handle #* o1"

    /// Two stories, and whether they differ in what both have. A story without an end is truncated.
    private static let answers: [(claim: String, String, String, isDifferent: Bool)] = [
        ("the beginning of the other", handed + "; handle #3 o1" + end, handed, false),
        ("both truncated", handed, handed, false),
        ("more than the complete one", handed + "; handle #3 o1", handed + end, true),
        ("fewer, but complete", handed + "; handle #3 o1" + end, handed + end, true),
        (
            "lost records", "log 'x'; worker log 'x'; main log 'y'; lost n1",
            "log 'x'; worker log 'x'; worker log 'y'; lost n1", false
        ),
        (
            "a difference behind missing records",
            "1-3: log '*'; worker hand #1 o1 >worker; handle #1 o1" + end,
            "log '1'; worker hand #1 o1 >worker; main handle #1 o1", true
        ),
        (
            "a Foundation post that has not returned", "register o1 ^; fpost #1 o1" + end, "register o1 ^; fbegin #1",
            false
        ),
        // Other records may name the thread.
        ("a target without a name", "add o1; worker log 'x'" + end, "add o1 >unnamed", false),
        ("a target with another name", "add o1; worker log 'x'" + end, "add o1 >other", true),
        (
            "a thread in a message", "log '{number = 2, name = worker}'; worker log 'x'" + end,
            "log '{number = 2, name = worker}'", false
        ),
    ]

    func testOnlyRecordsThatBothRunsHaveDiffer() {
        for (claim, one, other, isDifferent) in Self.answers {
            for (first, second) in [(one, other), (other, one)] {
                let comparison = RunComparison(recording(first, "A"), recording(second, "B"))
                XCTAssertEqual(comparison.outcome, isDifferent ? .different : .undecided, "\(claim): \(comparison)")
                XCTAssertEqual(comparison.truncation == nil, isDifferent, "\(claim): \(comparison)")
            }
        }
    }

    func testTheReportSaysWhatIsMissing() {
        let complete = Self.handed + "; handle #3 o1" + Self.end
        let found = RunComparison(recording(complete, "A"), recording(Self.handed, "B"))
        XCTAssertEqual(
            found.description,
            """
            the runs agree up to a truncation
            The runs are the same up to a truncation: 10 records.
              A:11  worker deliver #3 Done observer 1; posted at Demo/main.swift:1003
              B     (no counterpart)
            B is incomplete: there is no end record, so the last records may be missing.
            """)
    }

    func testIfOneProcessOfTwoWasKilledTheOtherIsComparedCompletely() {
        func run(_ killed: Int, messages: [String] = ["1", "2"]) -> Recording {
            var script = RecordedStory()
            script.process = ProcessIdentity(id: 8, name: "child")
            for number in 1...killed { script.add(.log, message: "\(number)") }
            if killed == 3 { script.end() }
            script.process = ProcessIdentity(id: 7, name: "parent")
            for message in messages { script.add(.log, message: "parent \(message)") }
            script.end()
            return script.recording
        }
        XCTAssertNotNil(RunComparison(run(3), run(2)).truncation)
        for messages in [["1"], ["1", "3"], ["1", "2", "3"]] {
            for (one, other) in [(run(3), run(2, messages: messages)), (run(2), run(3, messages: messages))] {
                XCTAssertEqual(RunComparison(one, other).outcome, .different)
            }
        }
    }
}
