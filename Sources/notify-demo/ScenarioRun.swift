import DeliveryDiagnostics
import Foundation

/// A scenario that was run: its records, and what came of its expectations.
struct ScenarioRun {
    var records: [DeliveryRecord]
    var expectations: [Expectation]

    var status: ExitStatus {
        expectations.allSatisfy(\.holds) ? .good : .failed
    }

    /// - Throws: what keeps the scenario from being run at all.
    static func perform(
        _ scenario: any Scenario, options: ScenarioOptions, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws -> ScenarioRun {
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let environment = ScenarioEnvironment(
            options: options,
            childProgram: ChildProgram(path: executable, arguments: [LifetimeChild.name]),
            progress: progress)
        do {
            try scenario.perform(in: environment)
        } catch let error as ScenarioError {
            guard case .timedOut = error else { throw error }
            // What did not happen in time is a failed expectation, and what did happen is worth seeing.
            return ScenarioRun(
                records: environment.recorder.records,
                expectations: [Expectation.failed("comes to its end", because: error.description)])
        }
        let records = environment.recorder.records
        return ScenarioRun(
            records: records, expectations: scenario.expectations(of: records, options: options))
    }
}

/// An expectation as a line.
enum ExpectationLine {
    static func text(of expectation: Expectation, in scenario: String? = nil, palette: Palette) -> String {
        let claim = (scenario.map { "\($0): " } ?? "") + expectation.claim
        return expectation.failure.map { "\(palette.bad("FAILED"))  \(claim): \($0)" }
            ?? "\(palette.good("ok"))      \(claim)"
    }
}
