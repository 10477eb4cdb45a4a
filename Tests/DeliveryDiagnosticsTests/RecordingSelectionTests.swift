import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class RecordingSelectionTests: XCTestCase {
    private let (main, worker) = (HandMadeRecords.main, HandMadeRecords.worker)

    /// Main posts #1 JobDone for worker; Foundation's center makes #2 of it; worker posts #3 Other.
    private var recording: Recording {
        var records = HandMadeRecords()
        records.add(1000, main, .post, "JobDone", post: 1)
        records.add(1100, main, .capture, "JobDone", post: 2, relatedPost: 1)
        records.add(1200, main, .append, "JobDone", post: 2, observer: 1, target: worker)
        records.add(1300, main, .signal, nil, target: worker)
        records.add(2000, worker, .deliver, "JobDone", post: 2, observer: 1)
        records.add(2500, worker, .return, nil, post: 2, observer: 1)
        records.add(3000, worker, .post, "Other", post: 3)
        records.add(3500, main, .log, nil, message: "JobDon")
        return Recording(records.records, source: "run.jsonl")
    }

    private func selected(_ filter: RecordingFilter) throws -> [Int] {
        let selection = try RecordingSelection(filter, of: recording)
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
            (RecordingFilter(thread: "\(worker.number)"), [2, 3, 4, 5, 6]),
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
