import DeliveryRecording
import Testing

@testable import Scenarios

@Suite("TAP report")
struct TAPReportTests {
    private func lines(_ claim: String, failure: String? = nil) -> [String] {
        var report = TAPReport()
        return report.lines(
            for: ScenarioResult(
                scenario: "flood", expectations: [.init(claim, failure: failure)], duration: .zero))
    }

    @Test("expectations are numbered across all scenarios, and the plan has their number")
    func form() {
        var report = TAPReport()
        let first = report.lines(
            for: ScenarioResult(
                scenario: "flood", expectations: [.init("a", failure: nil), .failed("b", because: "3, not 4")],
                duration: .zero))
        let second = report.lines(
            for: ScenarioResult(scenario: "removal", expectations: [.init("c", failure: nil)], duration: .zero))
        #expect(
            first + second == [
                "ok 1 - flood: a",
                "not ok 2 - flood: b", "  ---", #"  message: "3, not 4""#, "  severity: fail", "  ...",
                "ok 3 - removal: c",
            ])
        #expect(report.plan == "1..3")
    }

    @Test("the plan of no results is empty")
    func empty() {
        #expect(TAPReport().plan == "1..0")
    }

    @Test(
        "a claim stays on one line and cannot be a directive",
        arguments: [
            ("not ready # TODO later", "not ready \\# TODO later"), ("a\\b", "a\\\\b"), ("\\#", "\\\\\\#"),
            ("#\u{20E3}", "\\#\u{20E3}"), ("two\nlines\r\nand\u{2028}more", "two lines  and more"),
        ])
    func directives(claim: String, shown: String) {
        #expect(lines(claim) == ["ok 1 - flood: \(shown)"])
    }

    @Test(
        "a failure is a YAML scalar on one line",
        arguments: [
            (#"said "no" \o/"#, #""said \"no\" \\o/""#), ("two\r\nlines\tand a tab", #""two\r\nlines\tand a tab""#),
            ("...\n---", #""...\n---""#),
            ("\u{1B}[31m\0\u{85}\u{2028}\u{FEFF}", #""\u001B[31m\u0000\u0085\u2028\uFEFF""#),
            ("ü 通知 🇨🇭", "\"ü 通知 🇨🇭\""), ("", #""""#),
        ])
    func scalars(failure: String, shown: String) {
        #expect(lines("a", failure: failure)[2] == "  message: \(shown)")
    }
}
