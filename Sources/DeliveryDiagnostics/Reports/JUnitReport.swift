internal import Foundation
internal import TerminalText

/// Claims that were checked together, such as those of a scenario or the rules about a recording.
package struct ReportedSuite: Sendable {
    /// A claim, with the reason and its evidence if it does not hold.
    package struct Case: Sendable {
        package var claim: String
        package var failure: String?
        package var details: [String]

        package init(_ claim: String, failure: String?, details: [String] = []) {
            (self.claim, self.failure, self.details) = (claim, failure, details)
        }
    }

    package var name: String
    package var cases: [Case]
    /// Of the run that was checked.
    package var duration: Duration

    package init(name: String, cases: [Case], duration: Duration) {
        (self.name, self.cases, self.duration) = (name, cases, duration)
    }
}

/// Formats suites as JUnit XML for continuous integration.
///
/// JUnit XML has no specification. Only elements and attributes of Jenkins' schema are used. The time is an attribute
/// of the suite, because a case has none.
package enum JUnitReport {
    /// Without a newline at the end.
    ///
    /// - Parameter name: the name of all suites together.
    package static func text(_ name: String, of suites: [ReportedSuite]) -> String {
        let lines = suites.flatMap { suite in
            ["  <testsuite \(attributes(suite))>"] + suite.cases.map(testCase) + ["  </testsuite>"]
        }
        let start = [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites name=\(quoted(name))>"]
        return (start + lines + ["</testsuites>"]).joined(separator: "\n")
    }

    private static func testCase(_ reported: ReportedSuite.Case) -> String {
        let start = "    <testcase classname=\"notify-demo\" name=\(quoted(reported.claim))"
        guard let failure = reported.failure else { return "\(start)/>" }
        // Some readers show the attribute, others the text.
        let text = XMLText.escaped(([failure] + reported.details).joined(separator: "\n"))
        return "\(start)>\n      <failure message=\(quoted(failure))>\(text)</failure>\n    </testcase>"
    }

    private static func attributes(_ suite: ReportedSuite) -> String {
        let (tests, failures) = (suite.cases.count, suite.cases.count { $0.failure != nil })
        return "name=\(quoted(suite.name)) tests=\"\(tests)\" failures=\"\(failures)\" errors=\"0\" "
            + "time=\"\(String(format: "%.3f", suite.duration / .seconds(1)))\""
    }

    private static func quoted(_ value: String) -> String {
        // XML parsers replace unescaped newlines and tabs in attributes by spaces.
        let value = XMLText.escaped(value).replacing("\n", with: "&#10;").replacing("\t", with: "&#9;")
        return "\"\(value)\""
    }
}
