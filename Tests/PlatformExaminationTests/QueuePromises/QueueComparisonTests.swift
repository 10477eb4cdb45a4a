import ChildProcesses
import Scenarios
import SharedTesting
import XCTest

@testable import PlatformExamination

/// Shell scripts take the place of the queues.
final class QueueComparisonTests: XCTestCase {
    private func compare(_ script: String, timeout: Duration = TestTimeout.hang) throws -> QueueComparison {
        // $0 is the promise, $1 the queue.
        try QueueComparison.perform(in: ChildProgram(path: "/bin/sh", arguments: ["-c", script]), timeout: timeout)
    }

    func testEachPromiseIsARowInOrderWithTheOutputOfItsOwnProcesses() throws {
        let comparison = try compare("echo 1 $0; echo 2 of $1")
        XCTAssertEqual(comparison.rows.map(\.name), QueuePromise.all.map(\.name))
        for (row, promise) in zip(comparison.rows, QueuePromise.all) {
            XCTAssertEqual(row.claim, promise.claim)
            XCTAssertEqual(row.sentence, promise.sentence)
            XCTAssertEqual(row.fact, promise.fact)
            XCTAssertEqual(row.foundation, .broken("1 \(row.name), 2 of foundation"))
            XCTAssertEqual(row.postingQueue, .broken("1 \(row.name), 2 of ours"))
        }
    }

    func testAPromiseWithTheExpectedEventsIsKept() throws {
        let kept = try compare("[ $1 = ours ] && echo now && echo returned; :").rows
            .filter { $0.postingQueue == .kept }
        XCTAssertEqual(kept.map(\.name), ["now-within-the-call"])
    }

    func testACrashIsReportedWithTheFirstLineOfItsErrorsAndNoAddress() throws {
        let row = try XCTUnwrap(
            compare("echo asap; echo 'Simultaneous accesses to 0x55d0c8, but' >&2; echo more >&2; kill -6 $$").rows
                .first)
        XCTAssertEqual(row.foundation, .broken("asap, then ends with signal 6: Simultaneous accesses"))
    }

    func testAHangIsReportedAndEnded() throws {
        let script = "[ $0 = idle-after-asap ] && [ $1 = foundation ] && exec sleep 600; :"
        let hanging = try compare(script, timeout: .seconds(1)).rows.filter { $0.foundation == .broken("hangs") }
        // On a busy machine another trial may take as long.
        XCTAssertTrue(hanging.map(\.name).contains("idle-after-asap"))
    }

    func testAChildThatFailsKeepsNoPromise() throws {
        let script = "[ $0 = typing ] && [ $1 = ours ] && echo problem >&2 && exit 3; :"
        let failing = try compare(script).rows.filter { $0.postingQueue == .broken("ends with 3: problem") }
        XCTAssertEqual(failing.map(\.name), ["typing"])
    }

    func testAChildThatCannotBeStartedIsAnError() {
        XCTAssertThrowsError(
            try QueueComparison.perform(in: ChildProgram(path: "/nonexistent"), timeout: TestTimeout.hang))
    }

    func testATableIsPrintedAsMarkdownAndAsText() {
        let comparison = QueueComparison(rows: [
            .init(name: "a", claim: "now", fact: nil, foundation: .kept, postingQueue: .kept),
            .init(name: "b", claim: "in order", fact: "F5", foundation: .broken("2, 1"), postingQueue: .kept),
        ])
        XCTAssertEqual(
            comparison.markdown,
            """
            | promise | fact | Foundation's queue | `PostingQueue` |
            |---|---|---|---|
            | now |  | kept | kept |
            | in order | F5 | 2, 1 | kept |
            """)
        XCTAssertEqual(
            comparison.text,
            """
            promise   fact  Foundation's queue  PostingQueue
            now             kept                kept
            in order  F5    2, 1                kept
            """)
    }
}
