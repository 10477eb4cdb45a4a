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
        _ scenario: any Scenario, options: ScenarioOptions, progress: ProgressLine? = nil
    ) throws -> ScenarioRun {
        let environment = ScenarioEnvironment(
            options: options,
            childProgram: Bundle.main.executablePath.map { ChildProgram(path: $0, arguments: [LifetimeChild.name]) },
            distributedChild: Bundle.main.executablePath.map {
                ChildProgram(path: $0, arguments: [DistributedChild.name])
            },
            progress: { fraction in progress?.show("\(Int(fraction * 100)) % handled") })
        progress?.showWhenDue("running")
        do {
            try scenario.perform(in: environment)
        } catch {
            switch error as? ScenarioError {
            case .notOnMainThread, .noChildProgram, .optionOutOfRange, .child: throw error
            // What did not happen in time, or failed, is a failed expectation, and what did happen is worth seeing.
            case .timedOut, nil: break
            }
            return ScenarioRun(
                records: environment.recorder.records,
                expectations: [Expectation.failed("comes to its end", because: "\(error)")])
        }
        progress?.show("checking what was recorded")
        let records = environment.recorder.records
        return ScenarioRun(
            records: records, expectations: scenario.expectations(of: records, options: options))
    }
}
