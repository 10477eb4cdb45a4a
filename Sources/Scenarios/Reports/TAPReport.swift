/// Formats results in the Test Anything Protocol: a test point for each expectation, numbered across all scenarios.
///
/// Uses version 13 (<https://testanything.org/tap-version-13-specification.html>), which readers of version 14 accept
/// too. Perl's `prove` rejects version 14. The plan comes last, so that a truncated stream has none.
package struct TAPReport: Sendable {
    package static let version = "TAP version 13"

    private var count = 0

    package init() {}

    /// The lines of the next result.
    package mutating func lines(for result: ScenarioResult) -> [String] {
        result.expectations.flatMap { expectation in
            count += 1
            let point = "\(count) - \(Self.description("\(result.scenario): \(expectation.claim)"))"
            guard let failure = expectation.failure else { return ["ok \(point)"] }
            return ["not ok \(point)", "  ---", "  message: \(Self.quoted(failure))", "  severity: fail", "  ..."]
        }
    }

    /// The plan: the number of test points.
    package var plan: String { "1..\(count)" }

    /// One line, without a `#` that would begin a directive.
    private static func description(_ text: String) -> String {
        var description = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "#": description += "\\\(scalar)"
            case "\n"..."\r", "\u{85}", "\u{2028}", "\u{2029}": description += " "
            default: description.unicodeScalars.append(scalar)
            }
        }
        return description
    }

    /// A double-quoted YAML scalar.
    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            // YAML's non-printable characters and line breaks with at most four hexadecimal digits.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{FFFE}", "\u{FFFF}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return "\"\(quoted)\""
    }
}
