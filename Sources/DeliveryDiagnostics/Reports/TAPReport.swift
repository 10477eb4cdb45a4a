/// Results in the Test Anything Protocol: a test point for each expectation, numbered over all scenarios.
///
/// Version 13 (<https://testanything.org/tap-version-13-specification.html>), since Perl's `prove` refuses a stream that
/// says 14; a reader of version 14 reads it as well. The plan comes last, so that a stream that was cut off has none.
public struct TAPReport: Sendable {
    public static let version = "TAP version 13"

    private var count = 0

    public init() {}

    /// The lines for one more result.
    public mutating func lines(for result: ScenarioResult) -> [String] {
        var lines: [String] = []
        for expectation in result.expectations {
            count += 1
            let point = "\(count) - \(Self.description("\(result.scenario): \(expectation.claim)"))"
            if let failure = expectation.failure {
                lines += [
                    "not ok \(point)", "  ---", "  message: \(Self.quoted(failure))", "  severity: fail", "  ...",
                ]
            } else {
                lines.append("ok \(point)")
            }
        }
        return lines
    }

    /// How many test points there were.
    public var plan: String { "1..\(count)" }

    /// In one line, and without a `#` that would begin a directive.
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

    /// A scalar of YAML in double quotes.
    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            // All that YAML does not call printable, or calls a break, and has four hexadecimal digits at most.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{FFFE}", "\u{FFFF}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return "\"\(quoted)\""
    }
}
