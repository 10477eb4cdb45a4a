package import DeliveryRecording

/// A demonstration of notifications and threads that records what happens and checks the records.
///
/// `perform` makes records. `expectations` is a function of records, so a recording can be checked again anywhere.
package protocol Scenario: Sendable {
    /// The name on the command line.
    var name: String { get }
    /// One line that says what the scenario demonstrates.
    var summary: String { get }
    /// The options of `ScenarioOptions` that the scenario uses. It ignores the others.
    var options: Set<ScenarioOptions.Name> { get }

    /// - Throws: `ScenarioError.optionOutOfRange` for the first option whose value is out of range for this scenario.
    func validate(_ options: ScenarioOptions) throws(ScenarioError)

    /// Runs the scenario on the main thread, which it may block and whose run loop it may run. Returns when everything
    /// has been handled, or throws when one wait takes longer than the environment's timeout.
    func perform(in environment: ScenarioEnvironment) throws

    /// The claims about the scenario's records, each with its result.
    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation]

    /// Text to print below the records, or nil. In a log its lines begin with `# `, and comparisons skip them.
    func report(on records: [DeliveryRecord]) -> String?
}

extension Scenario {
    package var options: Set<ScenarioOptions.Name> { [] }

    package func validate(_ options: ScenarioOptions) throws(ScenarioError) { try options.validate() }

    package func report(on records: [DeliveryRecord]) -> String? { nil }
}
