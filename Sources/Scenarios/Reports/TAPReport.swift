internal import DeliveryDiagnostics
internal import Foundation

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
        text.replacing(/[\\#]/.matchingSemantics(.unicodeScalar)) { "\\\($0.output)" }
            .replacing(/[\n-\r\u{85}\u{2028}\u{2029}]/.matchingSemantics(.unicodeScalar), with: " ")
    }

    /// A double-quoted YAML scalar: a JSON string in which the characters that only YAML excludes are escaped, too.
    private static func quoted(_ text: String) -> String {
        let excluded = /[\u{7F}-\u{9F}\u{2028}\u{2029}\u{FEFF}\u{FFFE}\u{FFFF}]/.matchingSemantics(.unicodeScalar)
        return ((try? JSONText.of(text)) ?? "").replacing(excluded) { match in
            match.output.unicodeScalars.map { String(format: "\\u%04x", $0.value) }.joined()
        }
    }
}
