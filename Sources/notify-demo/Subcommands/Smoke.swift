import ArgumentParser
import DeliveryDiagnostics

struct Smoke: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run every scenario and check every expectation, a line each.",
        discussion: """
            Exits with 1 if any fails. Takes less than 10 seconds.
            """)

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        var (passed, failed) = (0, 0)
        for scenario in Scenarios.all {
            let expectations: [Expectation]
            do {
                expectations = try ScenarioRun.perform(scenario, options: ScenarioOptions()).expectations
            } catch {
                expectations = [.failed("can be run", because: "\(error)")]
            }
            for expectation in expectations {
                if expectation.holds { passed += 1 } else { failed += 1 }
                try terminal.print(
                    ExpectationLine.text(of: expectation, in: scenario.name, palette: terminal.outputPalette))
            }
            try terminal.flush()
        }
        try terminal.print("\(passed) passed, \(failed) failed")
        return failed == 0 ? .good : .failed
    }
}
