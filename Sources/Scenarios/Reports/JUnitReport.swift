internal import DeliveryDiagnostics
internal import Foundation

/// Formats results as JUnit XML for continuous integration: a suite for each scenario, a test case for each
/// expectation.
///
/// JUnit XML has no specification. Only elements and attributes of Jenkins' schema are used. The time is an attribute
/// of the suite, because an expectation has none.
package enum JUnitReport {
    /// Without a newline at the end.
    package static func text(of results: [ScenarioResult]) -> String {
        let all = attributes(
            name: "notify-demo smoke", of: results.flatMap(\.expectations),
            duration: results.reduce(.zero) { $0 + $1.duration })
        var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites \(all)>"]
        for result in results {
            let suite = attributes(name: result.scenario, of: result.expectations, duration: result.duration)
            lines.append("  <testsuite \(suite)>")
            for expectation in result.expectations {
                let name = "classname=\(quoted(result.scenario)) name=\(quoted(expectation.claim))"
                guard let failure = expectation.failure else {
                    lines.append("    <testcase \(name)/>")
                    continue
                }
                // Some readers show the attribute, others the text.
                let text = "<failure message=\(quoted(failure))>\(XMLText.escaped(failure))</failure>"
                lines += ["    <testcase \(name)>", "      \(text)", "    </testcase>"]
            }
            lines.append("  </testsuite>")
        }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n")
    }

    private static func attributes(name: String, of expectations: [Expectation], duration: Duration) -> String {
        let failures = expectations.count { !$0.holds }
        let seconds = String(format: "%.3f", duration / .seconds(1))
        return "name=\(quoted(name)) "
            + "tests=\"\(expectations.count)\" failures=\"\(failures)\" errors=\"0\" time=\"\(seconds)\""
    }

    private static func quoted(_ value: String) -> String {
        // XML parsers replace unescaped newlines and tabs in attributes by spaces.
        let value = XMLText.escaped(value).replacing("\n", with: "&#10;").replacing("\t", with: "&#9;")
        return "\"\(value)\""
    }
}
