internal import DeliveryDiagnostics

/// Formats results in the Test Anything Protocol: a test point for each expectation, numbered across all scenarios.
///
/// Uses version 13 (<https://testanything.org/tap-version-13-specification.html>), which readers of version 14 accept
/// too. Perl's `prove` rejects version 14. The plan comes last, so that a truncated stream has none.
package struct TAPReport: Sendable {
    package static let version = "TAP version 13"

    private var count = 0

    package init() {}

    /// The lines of the next result. A claim is one line without `#`; a JSON string is a YAML scalar.
    package mutating func lines(for result: ScenarioResult) -> [String] {
        result.expectations.flatMap { expectation in
            count += 1
            let point = "\(count) - \(result.scenario): \(expectation.claim)"
            guard let failure = expectation.failure else { return ["ok \(point)"] }
            return [
                "not ok \(point)", "  ---", "  message: \((try? JSONText.of(failure)) ?? "")", "  severity: fail",
                "  ...",
            ]
        }
    }

    /// The plan: the number of test points.
    package var plan: String { "1..\(count)" }
}
