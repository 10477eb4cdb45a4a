import DeliveryDiagnostics
import Scenarios

/// Formats an expectation and its result as a line.
enum ExpectationLine {
    static func text(of expectation: Expectation, in scenario: String? = nil, palette: Palette) -> String {
        let claim = (scenario.map { "\($0): " } ?? "") + expectation.claim
        return expectation.failure.map { "\(palette.bad("FAILED"))  \(claim): \($0)" }
            ?? "\(palette.good("ok"))      \(claim)"
    }
}
