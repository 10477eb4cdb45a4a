package import DeliveryRecording
internal import Foundation

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
    /// True if everything that the library traces is recorded. Scenarios of the document's technique record themselves.
    var isTraced: Bool { get }

    /// - Throws: `ScenarioError.optionOutOfRange` for the first option whose value is out of range for this scenario.
    func validate(_ options: ScenarioOptions) throws(ScenarioError)

    /// The steps. Runs on the main thread, which it may block and whose run loop it may run. Returns when everything
    /// has been handled, or throws when one wait takes longer than the environment's timeout.
    func run(in environment: ScenarioEnvironment) throws

    /// The claims about the scenario's records, each with its result.
    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation]

    /// Text to print below the records, or nil. In a log its lines begin with `# `, and comparisons skip them.
    func report(on records: [DeliveryRecord]) -> String?
}

extension Scenario {
    package var options: Set<ScenarioOptions.Name> { [] }

    package var isTraced: Bool { true }

    package func validate(_ options: ScenarioOptions) throws(ScenarioError) { try options.validate() }

    package func report(on records: [DeliveryRecord]) -> String? { nil }

    /// Runs the scenario and records it.
    package func perform(in environment: ScenarioEnvironment) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        try validate(environment.options)
        guard isTraced else { return try run(in: environment) }
        try environment.recorder.trace { try run(in: environment) }
    }
}
