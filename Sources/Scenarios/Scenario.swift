internal import ChildProcesses
internal import Foundation

/// A demonstration of notifications and threads that records what happens and checks the records.
///
/// `perform` makes records, if a `ScenarioRecording` has started. `expectations` is a function of the recording.
package protocol Scenario: Sendable {
    var name: String { get }
    /// One line that says what the scenario demonstrates.
    var summary: String { get }
    /// The options of `ScenarioOptions` that the scenario uses. It ignores the others.
    var options: Set<ScenarioOptions.Name> { get }
    /// The most notifications that it posts.
    var maximalNotifications: Int { get }
    /// True if its claims and its report need only the log and the number of the other records.
    var isCounted: Bool { get }
    /// True if everything that the library traces is recorded. Scenarios of the document's technique record themselves.
    var isTraced: Bool { get }

    /// The steps. Runs on the main thread; it may block it, and may run its run loop. Returns when everything has been
    /// handled, or throws when one wait takes longer than the environment's timeout.
    func run(in environment: ScenarioEnvironment) throws

    /// The claims about the scenario's run, each with its result.
    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation]

    /// Text to print below the records, or nil. In a log its lines begin with `# `, and comparisons skip them.
    func report(on run: RecordedRun) -> String?
}

extension Scenario {
    package var options: Set<ScenarioOptions.Name> { [] }

    package var maximalNotifications: Int { 1_000_000 }

    package var isTraced: Bool { true }

    package var isCounted: Bool { false }

    package func report(on run: RecordedRun) -> String? { nil }

    package func perform(in environment: ScenarioEnvironment) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        try validate(environment.options)
        do {
            if isTraced {
                try ScenarioRecording.trace { try run(in: environment) }
            } else {
                try run(in: environment)
            }
        } catch let error as ChildProcessError {
            throw ScenarioError(error)
        }
    }

    /// - Throws: `ScenarioError.optionOutOfRange` for the first option with a value out of range for this scenario.
    package func validate(_ options: ScenarioOptions) throws(ScenarioError) {
        try options.validate(maximalNotifications: maximalNotifications)
    }
}

/// The scenarios, in reading order for a newcomer.
package enum ScenarioCatalog {
    package static let all: [any Scenario] = [
        PostingThreadScenario(), RedirectScenario(), BackgroundObserverScenario(), HeldMessageScenario(),
        FloodScenario(), ObserverLifetimeScenario(), ManyObserversScenario(), PerformBlockScenario(),
        PostingStylesScenario(), CoalescingScenario(), RunLoopModesScenario(), DistributedScenario(),
    ]

    package static func named(_ name: String) -> (any Scenario)? { all.first { $0.name == name } }
}
