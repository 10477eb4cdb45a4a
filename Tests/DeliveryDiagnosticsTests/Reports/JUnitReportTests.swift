import Foundation
import FoundationXML
import XCTest

@testable import DeliveryDiagnostics

final class JUnitReportTests: XCTestCase {
    /// The elements of a document in order, from an XML parser.
    private final class Elements: NSObject, XMLParserDelegate {
        struct Element {
            var name: String
            var attributes: [String: String]
            var text = ""
        }
        private(set) var all: [Element] = []
        private var open: [Int] = []

        static func of(_ results: [ReportedSuite]) throws -> [Element] {
            let (text, elements) = (JUnitReport.text("notify-demo smoke", of: results), Elements())
            let parser = XMLParser(data: Data(text.utf8))
            parser.delegate = elements
            // On Linux, `parse()` returns true despite some errors and unclosed elements.
            _ = parser.parse()
            XCTAssertNil(parser.parserError, "line \(parser.lineNumber) of \(text)")
            XCTAssertEqual(elements.open, [], text)
            return elements.all
        }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(all.count)
            all.append(Element(name: name, attributes: attributes))
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            open.removeLast()
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            if let last = open.last { all[last].text += text }
        }
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
            let elements = try Elements.of([failed(text)])
            XCTAssertEqual(elements.map(\.name), ["testsuites", "testsuite", "testcase", "failure"])
            let (suite, testCase, failure) = (elements[1], elements[2], elements[3])
            let values = [
                suite.attributes["name"], testCase.attributes["name"], failure.attributes["message"], failure.text,
            ]
            XCTAssertEqual(Set(values), [text])
        }
    }

    func testForbiddenCharactersAreEscapedAndAnyTextGivesAWellFormedDocument() throws {
        let forbidden = try Elements.of([failed("\u{1B}[31mred\0\u{FFFE}\u{FFFF}")])
        XCTAssertEqual(forbidden[3].text, #"\u{1B}[31mred\u{0}\u{FFFE}\u{FFFF}"#)
        let all = String(String.UnicodeScalarView((0...0x2FFF).compactMap(Unicode.Scalar.init)))
        XCTAssertEqual(try Elements.of([failed(all)]).count, 4)
        XCTAssertEqual(try Elements.of([]).map(\.name), ["testsuites"])
    }
}
