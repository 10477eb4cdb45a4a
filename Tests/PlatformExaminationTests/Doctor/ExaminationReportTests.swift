import ChildProcesses
import Foundation
import Scenarios
import SharedTesting
import Synchronization
import XCTest

@testable import PlatformExamination

/// Shell scripts take the place of Foundation and of this package.
final class PlatformExaminationTests: XCTestCase {
    private func examine(
        _ facts: Set<String>? = nil, _ script: String, timeout: Duration = TestTimeout.hang
    ) throws -> ExaminationReport {
        // $0 is the question, $1 the side.
        try ExaminationReport.perform(
            facts: facts, in: ChildProgram(path: "/bin/sh", arguments: ["-c", script]), timeout: timeout)
    }

    func testEachFactIsARowWithTheOutputOfItsOwnProcesses() throws {
        let examination = try examine(nil, "echo $0 of $1")
        XCTAssertEqual(examination.rows.map(\.number), PlatformFact.all.map(\.number))
        for (row, fact) in zip(examination.rows, PlatformFact.all) {
            XCTAssertEqual(row.findings.map(\.name), fact.questions.map(\.name))
            for (finding, question) in zip(row.findings, fact.questions) {
                XCTAssertEqual(finding.foundation.observed, "\(question.name) of foundation")
                if case .none(let reason) = question.ours {
                    XCTAssertNil(finding.ours)
                    XCTAssertEqual(finding.reason, reason)
                } else {
                    XCTAssertEqual(finding.ours?.observed, "\(question.name) of ours")
                }
            }
        }
    }

    func testOnlyADeviationOfThisPackageIsAFailure() throws {
        let kept = "echo the other observer is called"
        XCTAssertEqual(try examine(["F2"], "[ $1 = foundation ] || \(kept)").failures, [])
        let broken = try examine(["F2"], "[ $1 = ours ] || \(kept)")
        XCTAssertEqual(broken.failures.map(\.name), ["removing-twice"])
        XCTAssertEqual(broken.failures.first?.foundation.verdict, .kept)
    }

    func testACrashAndAnExitStatusAreRows() throws {
        let script = "[ $0 = removing-twice ] && kill -11 $$; exit 3"
        let findings = try examine(["F2", "F4"], script).rows.flatMap(\.findings)
        XCTAssertEqual(findings.map(\.foundation.observed), ["ends with signal 11", "ends with 3", "ends with 3"])
        XCTAssertEqual(findings.map(\.ours?.observed), ["ends with signal 11", "ends with 3", "ends with 3"])
    }

    func testAHangIsARow() throws {
        let findings = try examine(["F2"], "exec sleep 600", timeout: .milliseconds(100)).rows.flatMap(\.findings)
        XCTAssertEqual(findings.map(\.foundation.observed), ["hangs"])
        XCTAssertEqual(findings.map(\.ours?.observed), ["hangs"])
    }

    func testAProcessThatCannotBeStartedIsAnError() {
        XCTAssertThrowsError(
            try ExaminationReport.perform(facts: ["F1"], in: ChildProgram(path: "/nonexistent")))
    }

    func testProgressReachesOne() throws {
        let fractions = Fractions()
        _ = try ExaminationReport.perform(
            facts: ["F1", "F2"], in: ChildProgram(path: "/bin/true"), progress: { fractions.append($0) })
        XCTAssertEqual(Set(fractions.all), [0.25, 0.5, 0.75, 1])
    }

    // MARK: Text and JSON

    private static let examination = ExaminationReport(rows: [
        .init(
            number: "F2", area: "NotificationCenter", expected: "removing a token twice is harmless",
            findings: [
                .init(
                    name: "removing-twice", claim: "a token removed twice removes no other observer",
                    sentence: "A sentence.", expected: "called", expectedOfOurs: "called",
                    foundation: TrialAnswer(verdict: .broken("removed"), observed: "removed"),
                    ours: TrialAnswer(verdict: .kept, observed: "called"), reason: nil)
            ]),
        .init(
            number: "F23", area: "PropertyListSerialization", expected: "bytes can be read",
            findings: [
                .init(
                    name: "a-set", claim: "a list with a set", sentence: nil, expected: "read", expectedOfOurs: "read",
                    foundation: TrialAnswer(
                        verdict: .broken("x"),
                        observed: "ends with signal 6: a long word, and another, and yet another one"),
                    ours: nil, reason: "no counterpart yet")
            ]),
    ])

    func testANarrowTerminalShowsAFewLinesForEachFact() {
        XCTAssertEqual(
            Self.examination.text(width: 72),
            """
            F2   NotificationCenter: removing a token twice is harmless
                 a token removed twice removes no other observer
                   “A sentence.”
                   Foundation             NO  removed
                   ThreadedNotifications  ok  called

            F23  PropertyListSerialization: bytes can be read
                 a list with a set
                   Foundation             NO  ends with signal 6: a long word, and
                                              another, and yet another one
                   ThreadedNotifications  -   no counterpart yet

            Foundation here: 0 of 2 as expected. ThreadedNotifications: 1 of 1 as
            expected, and 1 without a counterpart.
            """)
    }

    func testAWideTerminalShowsATable() {
        XCTAssertEqual(
            Self.examination.text(width: 140),
            """
            fact  area                       expected                                   Foundation here                       ThreadedNotifications

            F2    NotificationCenter         a token removed twice removes no other     NO  removed                           ok  called
                                             observer
                                             “A sentence.”

            F23   PropertyListSerialization  a list with a set                          NO  ends with signal 6: a long word,  -   no counterpart yet
                                                                                            and another, and yet another one

            Foundation here: 0 of 2 as expected. ThreadedNotifications: 1 of 1 as expected, and 1 without a counterpart.
            """)
    }

    func testColourDoesNotMoveTextAndNoLineExceedsTheWidth() throws {
        let examination = try examine(nil, "echo $0 of $1 and a number of words that is more than a cell has room for")
        for width in [60, 80, 131, 132, 200] {
            let plain = examination.text(width: width)
            for line in plain.split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, width, "\(line)") }
            let painted = examination.text(width: width) { mark, isKept in isKept ? "<g>\(mark)</>" : "<r>\(mark)</>" }
            XCTAssertEqual(painted.replacing(/<[gr\/]+>/, with: ""), plain)
        }
    }

    func testJSONHasALineForEachFact() throws {
        XCTAssertEqual(
            try Self.examination.jsonLines().first,
            """
            {"area":"NotificationCenter","expected":"removing a token twice is harmless","fact":"F2","questions":[{"claim":"a token \
            removed twice removes no other observer","foundation":{"expected":"called","kept":false,"observed":"removed"},\
            "name":"removing-twice","ours":{"expected":"called","kept":true,"observed":"called"},"sentence":"A sentence."}]}
            """)
        XCTAssertEqual(try Self.examination.jsonLines().count, 2)
        XCTAssertEqual(
            try Self.examination.jsonLines().last?.contains("\"noCounterpart\":\"no counterpart yet\""), true)
    }
}

private final class Fractions: Sendable {
    private let fractions = Mutex<[Double]>([])

    var all: [Double] { fractions.withLock { $0 } }

    func append(_ fraction: Double) { fractions.withLock { $0.append(fraction) } }
}
