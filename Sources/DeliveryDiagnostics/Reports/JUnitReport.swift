internal import Foundation
internal import TerminalText

/// Claims that were checked together, such as those of a scenario or the rules about a recording.
package struct ReportedSuite: Sendable, Hashable {
    /// A claim, with the reason and its evidence if it does not hold.
    package struct Case: Sendable, Hashable {
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
        let all = attributes(
            name: name, of: suites.flatMap(\.cases), duration: suites.reduce(.zero) { $0 + $1.duration })
        var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites \(all)>"]
        for suite in suites {
            lines.append("  <testsuite \(attributes(name: suite.name, of: suite.cases, duration: suite.duration))>")
            for reported in suite.cases {
                let name = "classname=\"notify-demo\" name=\(quoted(reported.claim))"
                guard let failure = reported.failure else {
                    lines.append("    <testcase \(name)/>")
                    continue
                }
                // Some readers show the attribute, others the text.
                let text = XMLText.escaped(([failure] + reported.details).joined(separator: "\n"))
                lines += [
                    "    <testcase \(name)>", "      <failure message=\(quoted(failure))>\(text)</failure>",
                    "    </testcase>",
                ]
            }
            lines.append("  </testsuite>")
        }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n")
    }

    private static func attributes(name: String, of cases: [ReportedSuite.Case], duration: Duration) -> String {
        let failures = cases.count { $0.failure != nil }
        let seconds = String(format: "%.3f", duration / .seconds(1))
        return "name=\(quoted(name)) "
            + "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" time=\"\(seconds)\""
    }

    private static func quoted(_ value: String) -> String {
        // XML parsers replace unescaped newlines and tabs in attributes by spaces.
        let value = XMLText.escaped(value).replacing("\n", with: "&#10;").replacing("\t", with: "&#9;")
        return "\"\(value)\""
    }
}
