import XCTest

@testable import DeliveryDiagnostics

final class TAPReportTests: XCTestCase {
    private func lines(_ claim: String, failure: String? = nil, details: [String] = []) -> [String] {
        var report = TAPReport()
        return report.lines(
            for: ReportedSuite(
                name: "flood", cases: [ReportedCase(claim, failure: failure, details: details)], duration: .zero))
    }

    func testCasesAreNumberedAcrossAllSuitesAndThePlanHasTheirNumber() {
        var report = TAPReport()
        XCTAssertEqual(report.plan, "1..0")
        let results = [
            ("flood", [ReportedCase("a", failure: nil), ReportedCase("b", failure: "3, not 4")]),
            ("removal", [ReportedCase("c", failure: nil)]),
        ].map { ReportedSuite(name: $0, cases: $1, duration: .zero) }
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

    func testEvidenceIsAListAndAClaimCannotBeADirective() {
        XCTAssertEqual(
            lines(#""a # skip" \ on main"#, failure: "no", details: ["one", #"a "b""#]),
            [
                ##"not ok 1 - flood: "a \# skip" \\ on main"##, "  ---", #"  message: "no""#, "  severity: fail",
                "  data:",
                #"    - "one""#, #"    - "a \"b\"""#, "  ...",
            ])
    }
}
