import XCTest

@testable import Scenarios

final class TAPReportTests: XCTestCase {
    private func lines(_ claim: String, failure: String? = nil) -> [String] {
        var report = TAPReport()
        return report.lines(
            for: ScenarioResult(
                scenario: "flood", expectations: [.init(claim, failure: failure)], duration: .zero))
    }

    func testExpectationsAreNumberedAcrossAllScenariosAndThePlanHasTheirNumber() {
        var report = TAPReport()
        XCTAssertEqual(report.plan, "1..0")
        let results = [
            ("flood", [Expectation("a", failure: nil), Expectation("b", failure: "3, not 4")]),
            ("removal", [Expectation("c", failure: nil)]),
        ].map { ScenarioResult(scenario: $0, expectations: $1, duration: .zero) }
        XCTAssertEqual(
            results.flatMap { report.lines(for: $0) },
            [
                "ok 1 - flood: a",
                "not ok 2 - flood: b", "  ---", #"  message: "3, not 4""#, "  severity: fail", "  ...",
                "ok 3 - removal: c",
            ])
        XCTAssertEqual(report.plan, "1..3")
    }

    func testAFailureIsAYAMLScalarOnOneLine() {
        for (failure, shown) in [
            (#"said "no" \o/"#, #""said \"no\" \\o/""#), ("two\r\nlines\tand a tab", #""two\r\nlines\tand a tab""#),
            ("...\n---", #""...\n---""#),
            ("\u{1B}[31m\0", #""\u001b[31m\u0000""#),
            ("ü 通知 🇨🇭", "\"ü 通知 🇨🇭\""), ("", #""""#),
        ] { XCTAssertEqual(lines("a", failure: failure)[2], "  message: \(shown)") }
    }
}
