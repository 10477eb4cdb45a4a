import ChildProcesses
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Scenarios

/// The result of running a scenario: its records and its checked expectations.
struct ScenarioRun {
    var records: [DeliveryRecord]
    var expectations: [Expectation]

    var status: ExitStatus {
        expectations.allSatisfy(\.holds) ? .success : .failed
    }

    /// - Throws: an error that prevents the scenario from running at all.
    static func perform(
        _ scenario: any Scenario, options: ScenarioOptions, progress: ProgressLine? = nil
    ) throws -> ScenarioRun {
        let environment = ScenarioEnvironment(
            options: options, program: .own(),
            progress: { fraction in progress?.show("\(Int(fraction * 100)) % handled") })
        progress?.showWhenDue("running")
        do {
            try scenario.perform(in: environment)
        } catch {
            switch error as? ScenarioError {
            case .notOnMainThread, .noProgram, .optionOutOfRange, .child: throw error
            // A timeout or another error is a failed expectation. The records up to it are still useful.
            case .timedOut, nil: break
            }
            return ScenarioRun(
                records: environment.recorder.records,
                expectations: [Expectation.failed("runs to its end", because: "\(error)")])
        }
        progress?.show("checking the records")
        let records = environment.recorder.records
        return ScenarioRun(
            records: records, expectations: scenario.expectations(of: records, options: options))
    }
}
