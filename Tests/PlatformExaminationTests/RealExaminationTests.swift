import ChildProcesses
import Foundation
import SharedTesting
import XCTest

@testable import PlatformExamination

/// Examines this platform and this package. Foundation's behaviour is not checked: another release may behave as
/// expected.
final class RealExaminationTests: XCTestCase {
    /// Runs once for all tests.
    private static let examined = Result {
        let directory = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            .split(separator: "/").dropLast().joined(separator: "/")
        let child = ChildProgram(
            path: "/\(directory)/notify-demo", arguments: ["doctor-child"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        return try Examination.perform(Question.all, in: child, timeout: TestTimeout.hang)
    }

    func testThisPackageBehavesAsExpectedAndFoundationsBehaviourIsReported() throws {
        let examination = try Self.examined.get()
        XCTAssertEqual(examination.findings.count, Question.all.count)
        for failure in examination.failures { XCTFail("\(failure.claim): \(failure.reason)") }
        for finding in examination.findings { XCTAssertNotEqual(finding.foundation.observed, "") }
        // The reader of the wire says at which byte it refuses a list.
        let lists = examination.findings.filter { $0.fact == "F23" }
        XCTAssertEqual(lists.count, 2)
        for list in lists { XCTAssertTrue(list.ours.observed.hasPrefix("PropertyListReader: refused (byte ")) }
    }

    func testAnArticleHasATableWithEachPromiseAndThisPackagesVerdict() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = "Sources/ThreadedNotifications/ThreadedNotifications.docc/MovingFromFoundation.md"
        let text = try String(contentsOf: root.appending(path: article), encoding: .utf8)
        // Foundation's column depends on the release that the article names.
        func rows(_ text: String) -> [[String]] {
            text.split(separator: "\n").map { $0.components(separatedBy: "|") }.filter { $0.count == 6 }
                .map { [$0[1], $0[2], $0[4]] }
        }
        let queues = try Self.examined.get().findings.filter { Question.queues.map(\.name).contains($0.name) }
        let expected = rows(Examination(findings: queues).markdown)
        let table = rows(text).drop { $0 != expected[0] }.prefix(expected.count)
        XCTAssertEqual(Array(table), expected, "copy the output of notify-demo doctor --queues --markdown")
    }
}
