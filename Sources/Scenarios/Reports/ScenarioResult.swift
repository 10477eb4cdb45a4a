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
}
