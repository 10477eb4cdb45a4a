import DeliveryRecording
import XCTest

@testable import DeliveryDiagnostics

final class RecordingSelectionTests: XCTestCase {
    /// Main posts #1 JobDone for worker; Foundation's center makes #2 of it; worker posts #3 Other.
    private let recording = RecordedStory(
        """
        post #1 JobDone; capture #2 JobDone ~1 +100ns; append #2 o1 JobDone >worker +100ns; signal >worker +100ns
        worker deliver #2 o1 JobDone +700ns; worker return #2 o1 - +500ns; worker post #3 Other +500ns
        log 'JobDon' +500ns
        """
    ).recording

    private func selected(_ filter: RecordingFilter) throws -> [Int] {
        let selection = try RecordingSelection(filter, of: RecordingIndex(recording))
        return recording.entries.indices.filter { selection.contains(recording.entries[$0]) }
    }

    func testEachConditionSelectsItsRecords() throws {
        let cases: [(RecordingFilter, [Int])] = [
            (RecordingFilter(), Array(0..<8)),
            // A record without a name has that of its post.
            (RecordingFilter(name: "JobDone"), [0, 1, 2, 4, 5]),
            // A post includes what Foundation's center made of it.
            (RecordingFilter(post: 1), [0, 1, 2, 4, 5]),
            (RecordingFilter(post: 3), [6]),
            // A thread selects what is made on it and for it, by name or number.
            (RecordingFilter(thread: "worker"), [2, 3, 4, 5, 6]),
            (RecordingFilter(thread: "2"), [2, 3, 4, 5, 6]),
            // Times are those since the first record, both included.
            (RecordingFilter(from: 300, to: 1500), [3, 4, 5]),
            (RecordingFilter(name: "JobDone", thread: "worker", post: 2, from: 500), [4, 5]),
        ]
        for (filter, indices) in cases { XCTAssertEqual(try selected(filter), indices, "\(filter)") }
    }

    func testWhatTheRecordingDoesNotHaveIsAnErrorWithASuggestion() {
        let cases: [(RecordingFilter, String)] = [
            // A message is not a name.
            (RecordingFilter(name: "JobDon"), "has no notification \"JobDon\". Did you mean \"JobDone\"?"),
            (RecordingFilter(name: "Unlike\u{1B}"), "has no notification \"Unlike\\u{1B}\"."),
            (RecordingFilter(thread: "worke"), "has no thread \"worke\". Did you mean \"worker\"?"),
            (RecordingFilter(post: 17), "has no post #17."),
        ]
        for (filter, problem) in cases {
            XCTAssertThrowsError(try selected(filter)) { XCTAssertEqual("\($0)", "run.jsonl: \(problem)") }
        }
    }
}
