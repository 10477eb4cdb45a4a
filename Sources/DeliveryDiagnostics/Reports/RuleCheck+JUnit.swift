internal import DeliveryRecording
internal import Foundation
internal import TerminalText

extension RuleCheck {
    /// The results as JUnit XML for continuous integration, without a newline at the end: a suite with a case for each
    /// rule. Its time is that of the recording. Only elements and attributes of Jenkins' schema are used.
    package func junit() -> String {
        let seconds = Double(recording.entries.last.map { max(0, recording.elapsed($0)) } ?? 0) / 1e9
        let cases = results.flatMap { result in
            let start = "    <testcase classname=\"notify-demo\" name=\(quoted(result.rule.text))"
            if result.holds { return ["\(start)/>"] }
            // Some readers show the attribute, others the text.
            let text = XMLText.escaped(([result.explanation] + result.lines).joined(separator: "\n"))
            return [
                "\(start)>", "      <failure message=\(quoted(result.explanation))>\(text)</failure>",
                "    </testcase>",
            ]
        }
        let lines =
            [
                #"<?xml version="1.0" encoding="UTF-8"?>"#, #"<testsuites name="notify-demo check">"#,
                "  <testsuite name=\(quoted(recording.source)) tests=\"\(results.count)\" failures=\"\(failedCount)\" "
                    + "errors=\"0\" time=\"\(String(format: "%.3f", seconds))\">",
            ] + cases + ["  </testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n")
    }

    private func quoted(_ value: String) -> String {
        // XML parsers replace unescaped newlines and tabs in attributes by spaces.
        "\"\(XMLText.escaped(value).replacing("\n", with: "&#10;").replacing("\t", with: "&#9;"))\""
    }
}
