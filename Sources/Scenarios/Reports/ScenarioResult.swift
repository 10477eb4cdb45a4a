package import DeliveryDiagnostics

/// The result of a scenario.
package struct ScenarioResult: Sendable, Hashable {
    package var scenario: String
    package var expectations: [Expectation]
    package var duration: Duration

    package init(scenario: String, expectations: [Expectation], duration: Duration) {
        self.scenario = scenario
        self.expectations = expectations
        self.duration = duration
    }

    /// A suite for the scenario, and a case for each expectation.
    package var suite: ReportedSuite {
        ReportedSuite(
            name: scenario,
            cases: expectations.map { ReportedSuite.Case("\(scenario): \($0.claim)", failure: $0.failure) },
            duration: duration)
    }

    /// The expectations that fail.
    package var findings: [ReportedFinding] {
        expectations.compactMap { expectation in
            expectation.failure.map { ReportedFinding(title: "\(scenario): \(expectation.claim)", text: $0) }
        }
    }
}
