import XCTest

@testable import DeliveryDiagnostics

final class JUnitReportTests: XCTestCase {
    private func elements(_ suites: [ReportedSuite]) throws -> [ParsedXML.Element] {
        try ParsedXML(JUnitReport.text("notify-demo smoke", of: suites)).elements
    }

    private func suite(_ name: String, _ cases: [ReportedSuite.Case], seconds: Double = 0) -> ReportedSuite {
        ReportedSuite(name: name, cases: cases, duration: .seconds(seconds))
    }

    private func failed(_ text: String) -> ReportedSuite { suite(text, [ReportedSuite.Case(text, failure: text)]) }

    func testEachSuiteHasItsCasesAndTheEvidenceOfAFailureFollowsItsMessage() {
        let text = JUnitReport.text(
            "notify-demo smoke",
            of: [
                suite(
                    "flood",
                    [.init("kept", failure: nil), .init("none lost", failure: "3 < 4", details: ["a", "<b>"])],
                    seconds: 1.25),
                suite("empty", [], seconds: 0.0006),
            ])
        XCTAssertEqual(
            text,
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="notify-demo smoke" tests="2" failures="1" errors="0" time="1.251">
              <testsuite name="flood" tests="2" failures="1" errors="0" time="1.250">
                <testcase classname="notify-demo" name="kept"/>
                <testcase classname="notify-demo" name="none lost">
                  <failure message="3 &lt; 4">3 &lt; 4
            a
            &lt;b&gt;</failure>
                </testcase>
              </testsuite>
              <testsuite name="empty" tests="0" failures="0" errors="0" time="0.001">
              </testsuite>
            </testsuites>
            """)
    }

    func testTextThatXMLCanRepresentIsPreserved() throws {
        for text in [
            "a < b && c > d", "\"quoted\" and 'quoted'", "]]>", "<![CDATA[", "&amp;", "two\nlines\tand a tab", "\r\n",
            " blanks  around ", "ü 通知 🇨🇭 e\u{301}", "<\u{301} &\u{20E3} \"\u{FE0F}", "\u{7F}\u{85}\u{FFFD}\u{10FFFF}",
        ] {
            let elements = try elements([failed(text)])
            XCTAssertEqual(elements.map(\.name), ["testsuites", "testsuite", "testcase", "failure"])
            let (suite, testCase, failure) = (elements[1], elements[2], elements[3])
            let values = [
                suite.attributes["name"], testCase.attributes["name"], failure.attributes["message"], failure.text,
            ]
            XCTAssertEqual(Set(values), [text])
        }
    }

    func testForbiddenCharactersAreEscapedAndAnyTextGivesAWellFormedDocument() throws {
        let forbidden = try elements([failed("\u{1B}[31mred\0\u{FFFE}\u{FFFF}")])
        XCTAssertEqual(forbidden[3].text, #"\u{1B}[31mred\u{0}\u{FFFE}\u{FFFF}"#)
        let all = String(String.UnicodeScalarView((0...0x2FFF).compactMap(Unicode.Scalar.init)))
        XCTAssertEqual(try elements([failed(all)]).count, 4)
        XCTAssertEqual(try elements([]).map(\.name), ["testsuites"])
    }
}
