import Foundation
import FoundationXML
import XCTest

@testable import DeliveryDiagnostics

final class JUnitReportTests: XCTestCase {
    func testEachSuiteHasItsCasesAndTheEvidenceOfAFailureFollowsItsMessage() {
        let cases: [ReportedSuite.Case] = [
            .init("kept", failure: nil), .init("none lost", failure: "3 < 4", details: ["a", "<b>"]),
        ]
        let suites = [
            ReportedSuite(name: "flood", cases: cases, duration: .seconds(1.25)),
            ReportedSuite(name: "empty", cases: [], duration: .microseconds(600)),
        ]
        XCTAssertEqual(
            JUnitReport.text("notify-demo smoke", of: suites),
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="notify-demo smoke">
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

    func testAnyTextGivesAWellFormedDocumentThatHasWhatXMLCanRepresent() throws {
        for text in [
            "a < b && c > d", "\"quoted\" and 'quoted'", "]]>", "<![CDATA[", "&amp;", "two\nlines\tand a tab", "\r\n",
            " blanks  around ", "ü 通知 🇨🇭 e\u{301}", "<\u{301} &\u{20E3} \"\u{FE0F}", "\u{7F}\u{85}\u{FFFD}\u{10FFFF}",
            "\u{1B}[31mred\0\u{FFFE}\u{FFFF}",
        ] {
            let suite = ReportedSuite(name: text, cases: [.init(text, failure: text)], duration: .zero)
            let failure = try XCTUnwrap(
                try XMLDocument(xmlString: JUnitReport.text("", of: [suite])).nodes(forXPath: "//failure").first
                    as? XMLElement)
            let expected = text.replacing("\u{1B}", with: #"\u{1B}"#)
                .replacing("\0\u{FFFE}\u{FFFF}", with: #"\u{0}\u{FFFE}\u{FFFF}"#)
            XCTAssertEqual(failure.attribute(forName: "message")?.stringValue, expected)
            XCTAssertEqual(failure.stringValue, expected)
        }
    }
}
