/// The result of a scenario.
public struct ScenarioResult: Sendable, Hashable {
    public var scenario: String
    public var expectations: [Expectation]
    public var duration: Duration

    public init(scenario: String, expectations: [Expectation], duration: Duration) {
        self.scenario = scenario
        self.expectations = expectations
        self.duration = duration
    }
}
