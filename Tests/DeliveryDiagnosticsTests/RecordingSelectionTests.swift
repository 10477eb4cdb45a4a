import DeliveryRecording
import XCTest

@testable import DeliveryDiagnostics

final class RecordingSelectionTests: XCTestCase {
    /// Main posts #1 JobDone for worker; Foundation's center makes #2 of it; worker posts #3 Other.
    private let index = RecordingIndex(
        RecordedStory(
            """
            post #1 JobDone; capture #2 JobDone ~1 +100ns; append #2 o1 JobDone >worker +100ns; signal >worker +100ns
            worker deliver #2 o1 JobDone +700ns; worker return #2 o1 - +500ns; worker post #3 Other +500ns
            log 'JobDon' +500ns
            """
        ).recording)

    func testEachConditionSelectsItsRecords() throws {
        let cases = [
            (RecordingSelection(all: index), Array(0..<8)),
            // A record without a name has that of its post.
            (try RecordingSelection(name: "JobDone", of: index), [0, 1, 2, 4, 5]),
            // A post includes what Foundation's center made of it.
            (try RecordingSelection(post: 1, of: index), [0, 1, 2, 4, 5]),
            (try RecordingSelection(post: 3, of: index), [6]),
            // A thread selects what is made on it and for it, by name or number.
            (try RecordingSelection(thread: "worker", of: index), [2, 3, 4, 5, 6]),
            (try RecordingSelection(thread: "2", of: index), [2, 3, 4, 5, 6]),
            // Times are those since the first record, both included.
            (try RecordingSelection(from: 300, to: 1500, of: index), [3, 4, 5]),
            (try RecordingSelection(name: "JobDone", thread: "worker", post: 2, from: 500, of: index), [4, 5]),
        ]
        for (selection, indices) in cases {
            XCTAssertEqual((0..<8).filter { selection.contains(index.entry(Int32($0))) }, indices)
        }
    }

    func testWhatTheRecordingDoesNotHaveIsAnErrorWithASuggestion() {
        let cases: [((RecordingIndex) throws -> RecordingSelection, String)] = [
            // A message is not a name.
            (
                { try RecordingSelection(name: "JobDon", of: $0) },
                "has no notification \"JobDon\". Did you mean \"JobDone\"?"
            ),
            ({ try RecordingSelection(name: "Unlike\u{1B}", of: $0) }, "has no notification \"Unlike\\u{1B}\"."),
            ({ try RecordingSelection(thread: "worke", of: $0) }, "has no thread \"worke\". Did you mean \"worker\"?"),
            ({ try RecordingSelection(post: 17, of: $0) }, "has no post #17."),
        ]
        for (select, problem) in cases {
            XCTAssertThrowsError(try select(index)) { XCTAssertEqual("\($0)", "run.jsonl: \(problem)") }
        }
    }
}
