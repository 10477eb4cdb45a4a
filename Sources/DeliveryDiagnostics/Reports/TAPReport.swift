/// Formats suites in the Test Anything Protocol: a test point for each case, numbered across all suites.
///
/// Uses version 13 (<https://testanything.org/tap-version-13-specification.html>), which readers of version 14 accept
/// too. Perl's `prove` rejects version 14. The plan comes last, so that a truncated stream has none.
package struct TAPReport: Sendable {
    package static let version = "TAP version 13"

    private var count = 0

    package init() {}

    /// The lines of the next suite. A claim is one line; a JSON string is a YAML scalar.
    package mutating func lines(for suite: ReportedSuite) -> [String] {
        suite.cases.flatMap { reported in
            count += 1
            // A # would begin a directive, such as SKIP.
            let claim = ShownText.escaped("\(suite.name): \(reported.claim)").replacing("\\", with: "\\\\").replacing(
                "#", with: "\\#")
            let point = "\(count) - \(claim)"
            guard let failure = reported.failure else { return ["ok \(point)"] }
            let details = reported.details.map { "    - \(scalar($0))" }
            return ["not ok \(point)", "  ---", "  message: \(scalar(failure))", "  severity: fail"]
                + (details.isEmpty ? [] : ["  data:"] + details) + ["  ..."]
        }
    }

    /// The plan: the number of test points.
    package var plan: String { "1..\(count)" }

    private func scalar(_ text: String) -> String { (try? JSONText.of(text)) ?? "" }
}
