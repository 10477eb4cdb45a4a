import ChildProcesses
import Foundation
import SharedTesting
import Testing

@testable import PlatformExamination

/// Examines this platform and this package. Foundation's behaviour is not checked: another release may behave as
/// expected.
@Suite("The examination of this platform")
struct RealExaminationTests {
    /// Runs once for all tests.
    private static let examined = Result {
        let directory = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            .split(separator: "/").dropLast().joined(separator: "/")
        let child = ChildProgram(
            path: "/\(directory)/notify-demo", arguments: ["doctor-child"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        return try Examination.perform(Question.all, in: child, timeout: TestTimeout.hang)
    }

    @Test("this package behaves as expected, and Foundation's behaviour is reported")
    func ours() throws {
        let examination = try Self.examined.get()
        #expect(examination.findings.count == Question.all.count)
        for failure in examination.failures { Issue.record("\(failure.claim): \(failure.reason)") }
        for finding in examination.findings { #expect(!finding.foundation.observed.isEmpty) }
        // The reader of the wire says at which byte it refuses a list.
        let lists = examination.findings.filter { $0.fact == "F23" }
        #expect(lists.count == 2)
        for list in lists { #expect(list.ours.observed.hasPrefix("PropertyListReader: refused (byte ")) }
    }

    @Test("an article has a table with each promise and this package's verdict")
    func article() throws {
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
        #expect(Array(table) == expected, "copy the output of notify-demo doctor --queues --markdown")
    }
}
