import ChildProcesses
import PostingQueues
import SharedTesting
import Synchronization
import XCTest

@testable import PlatformExamination

final class ExaminationTests: XCTestCase {
    /// Shell scripts take the place of Foundation and of this package. $0 is the question, $1 the side.
    private func examine(
        _ questions: [Question], _ script: String, timeout: Duration = TestTimeout.hang,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws -> [Examination.Finding] {
        let shell = ChildProgram(path: "/bin/sh", arguments: ["-c", script])
        return try Examination.perform(questions, in: shell, timeout: timeout, progress: progress).findings
    }

    func testQuestionsStayInOrderEachSideAnswersInAProcessOfItsOwnAndTheProgressReachesOne() throws {
        let questions = Array(Question.queues.prefix(3))
        let fractions = Mutex<Set<Double>>([])
        let findings = try examine(questions, "echo 1 $0; echo 2 of $1") { fraction in
            _ = fractions.withLock { $0.insert(fraction) }
        }
        XCTAssertEqual(findings.map(\.name), questions.map(\.name))
        for finding in findings {
            XCTAssertEqual(finding.foundation.observed, "1 \(finding.name), 2 of foundation")
            XCTAssertEqual(finding.ours.observed, "1 \(finding.name), 2 of ours")
        }
        XCTAssertEqual(fractions.withLock { $0 }, Set((1...6).map { Double($0) / 6 }))
    }

    func testACrashAnExitStatusAndAHangAreAnswersAndAProgramThatCannotBeStartedIsAnError() throws {
        let question = Array(Question.all.prefix(1))
        for (script, observed) in [
            ("echo now; echo 'goes to 0x5, but' >&2; echo more >&2; kill -6 $$", "now, then ends with signal 6: goes"),
            ("echo now; echo problem >&2; exit 3", "now, then ends with 3: problem"), ("exit 3", "ends with 3"),
        ] {
            let finding = try XCTUnwrap(try examine(question, script).first)
            XCTAssertEqual([finding.foundation.observed, finding.ours.observed], [observed, observed])
        }
        let hanging = try examine(question, "[ $1 = ours ] || exec sleep 600", timeout: .milliseconds(200))
        XCTAssertEqual(hanging.map(\.foundation.observed), ["hangs"])
        assertThrows(ChildProcessError.self) {
            try Examination.perform(question, in: ChildProgram(path: "/nonexistent"), timeout: TestTimeout.hang)
        }
    }

    func testOnlyAClaimThatThisPackageDoesNotKeepIsAFailure() {
        var examination = Self.examination
        XCTAssertEqual(examination.failures.count, 0)
        examination.findings[1].ours = Answer(isKept: false, observed: "removed", expected: "called")
        XCTAssertEqual(examination.failures.map(\.claim), [examination.findings[1].claim])
        XCTAssertEqual(examination.failures.map(\.reason), ["removed instead of called"])
    }

    func testAMessageIsTheFirstLineOfTheErrorsWithoutAddressesSourceLocationAndControlCharacters() {
        for (errors, message) in [
            ("", nil), ("problem\nmore\n", "problem"),
            ("Foundation/Port.swift:24: Fatal error: must be overridden\n", "must be overridden"),
            (
                "Could not cast value of type 'A.(unknown context at $55e4c0).B' (0x7f1c) to 'C' (0x7f1d).\n",
                "Could not cast value of type 'A.B' to 'C'."
            ),
            ("\u{1B}[2J\n", "\\u{1B}[2J"),
        ] {
            XCTAssertEqual(Examination.message(errors), message)
        }
    }

    // MARK: Output

    private static func finding(
        _ fact: String?, _ claim: String, sentence: String? = nil, foundation: String, isKept: Bool = false
    ) -> Examination.Finding {
        Examination.Finding(
            name: "name", claim: claim, sentence: sentence, fact: fact,
            foundation: Answer(isKept: isKept, observed: foundation, expected: "called"),
            ours: Answer(isKept: true, observed: "called", expected: "called"))
    }

    private static let examination = Examination(findings: [
        finding("F2", "a token removed twice removes no other observer", foundation: "removed"),
        finding(
            "F4", "an observer of a sender that is a value", sentence: "If you specify only an object.",
            foundation: "called", isKept: true),
        finding(
            "F4", "an observer of a sender that was freed", sentence: "If you specify only an object.",
            foundation: "ends with signal 6: a long word, and another, and yet another one"),
    ])

    func testTheTextHasAFewLinesForEachFact() {
        XCTAssertEqual(
            Self.examination.text(width: 72),
            """
            F2   NotificationCenter: removing a token twice is harmless
                 a token removed twice removes no other observer
                   Foundation             NO  removed
                   ThreadedNotifications  ok  called

            F4   NotificationCenter: observers are matched by sender
                 an observer of a sender that is a value
                   “If you specify only an object.”
                   Foundation             ok  called
                   ThreadedNotifications  ok  called
                 an observer of a sender that was freed
                   Foundation             NO  ends with signal 6: a long word, and
                                              another, and yet another one
                   ThreadedNotifications  ok  called

            Foundation here: 1 of 3 as expected. ThreadedNotifications: 3 of 3 as
            expected.
            """)
    }

    func testColourDoesNotMoveTextAndNoLineExceedsTheWidth() {
        let text = "a number of words that is more than a cell has room for, \(String(repeating: "word ", count: 20))"
        let examination = Examination(
            findings: Fact.all.map { Self.finding($0.number, text, sentence: text, foundation: text) })
        for width in [60, 80, 200] {
            let plain = examination.text(width: width)
            for line in plain.split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, width, "\(line)") }
            let painted = examination.text(width: width) { "\u{1B}[\($1 ? 32 : 31)m\($0)\u{1B}[0m" }
            XCTAssertNotEqual(painted, plain)
            XCTAssertEqual(painted.replacing(/\u{1B}\[[0-9]+m/, with: ""), plain)
        }
    }

    func testJSONHasALineForEachFact() throws {
        let lines = try Self.examination.jsonLines()
        XCTAssertEqual(
            lines.first,
            """
            {"area":"NotificationCenter","expected":"removing a token twice is harmless","fact":"F2","questions":\
            [{"claim":"a token removed twice removes no other observer","foundation":{"expected":"called","kept":\
            false,"observed":"removed"},"name":"name","ours":{"expected":"called","kept":true,"observed":"called"}}]}
            """)
        XCTAssertEqual(lines.count, 2)
        XCTAssertEqual(lines.last?.contains(#""sentence":"If you specify only an object."}"#), true)
    }

    func testPromisesArePrintedAsMarkdownAndAsText() {
        let promises = Examination(findings: [Self.finding("F5", "in order", foundation: "2, 1")])
        XCTAssertEqual(
            promises.markdown,
            """
            | promise | fact | Foundation's queue | `PostingQueue` |
            |---|---|---|---|
            | in order | F5 | 2, 1 | kept |
            """)
        XCTAssertEqual(
            promises.verdicts,
            """
            promise   fact  Foundation's queue  PostingQueue
            in order  F5    2, 1                kept
            """)
    }
}
