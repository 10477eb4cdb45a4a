import DeliveryRecording
import Foundation
import FoundationXML
import Testing

@testable import Scenarios

@Suite("JUnit report")
struct JUnitReportTests {
    /// The elements of a document in order, from an XML parser.
    private final class Elements: NSObject, XMLParserDelegate {
        struct Element: Hashable {
            var name: String
            var attributes: [String: String]
            var text = ""
        }
        private(set) var all: [Element] = []
        private var open: [Int] = []

        static func of(_ text: String) throws -> [Element] {
            let elements = Elements()
            let parser = XMLParser(data: Data(text.utf8))
            parser.delegate = elements
            // On Linux, `parse()` returns true despite some errors and unclosed elements.
            _ = parser.parse()
            try #require(parser.parserError == nil, "line \(parser.lineNumber) of \(text)")
            try #require(elements.open.isEmpty && !elements.all.isEmpty)
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

    private func result(
        _ scenario: String, _ expectations: [Scenarios.Expectation], seconds: Double = 0
    ) -> ScenarioResult {
        ScenarioResult(scenario: scenario, expectations: expectations, duration: .seconds(seconds))
    }

    private func failure(_ text: String) -> [Scenarios.Expectation] { [.failed(text, because: text)] }

    @Test("each scenario is a suite, and each expectation a test case")
    func form() {
        let text = JUnitReport.text(of: [
            result("flood", [.init("kept", failure: nil), .failed("none lost", because: "3 < 4")], seconds: 1.25),
            result("empty", [], seconds: 0.0006),
        ])
        #expect(
            text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites name="notify-demo smoke" tests="2" failures="1" errors="0" time="1.251">
                  <testsuite name="flood" tests="2" failures="1" errors="0" time="1.250">
                    <testcase classname="flood" name="kept"/>
                    <testcase classname="flood" name="none lost">
                      <failure message="3 &lt; 4">3 &lt; 4</failure>
                    </testcase>
                  </testsuite>
                  <testsuite name="empty" tests="0" failures="0" errors="0" time="0.001">
                  </testsuite>
                </testsuites>
                """)
    }

    @Test("the report of no results is well formed")
    func empty() throws {
        let elements = try Elements.of(JUnitReport.text(of: []))
        #expect(elements.map(\.name) == ["testsuites"])
        #expect(elements.first?.attributes["tests"] == "0")
    }

    @Test(
        "text that XML can represent is preserved",
        arguments: [
            "a < b && c > d", "\"quoted\" and 'quoted'", "]]>", "<![CDATA[", "&amp;", "two\nlines\tand a tab", "\r\n",
            " blanks  around ", "ü 通知 🇨🇭 e\u{301}", "<\u{301} &\u{20E3} \"\u{FE0F}", "\u{7F}\u{85}\u{FFFD}\u{10FFFF}",
        ])
    func escaped(text: String) throws {
        let elements = try Elements.of(JUnitReport.text(of: [result(text, failure(text))]))
        let (suite, testCase, failure) = (elements[1], elements[2], elements[3])
        #expect(suite.attributes["name"] == text)
        #expect(testCase.attributes["classname"] == text)
        #expect(testCase.attributes["name"] == text)
        #expect(failure.attributes["message"] == text)
        #expect(failure.text == text)
    }

    @Test("characters that XML 1.0 forbids are escaped, and any text gives a well-formed document")
    func forbidden() throws {
        let elements = try Elements.of(JUnitReport.text(of: [result("x", failure("\u{1B}[31mred\0\u{FFFE}\u{FFFF}"))]))
        #expect(elements[3].text == #"\u{1B}[31mred\u{0}\u{FFFE}\u{FFFF}"#)
        let all = String(String.UnicodeScalarView((0...0x2FFF).compactMap(Unicode.Scalar.init)))
        #expect(try Elements.of(JUnitReport.text(of: [result(all, failure(all))])).count == 4)
    }
}
