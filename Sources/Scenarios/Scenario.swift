internal import Foundation

/// A demonstration of notifications and threads that records what happens and checks the records.
///
/// `perform` makes records, if a `ScenarioRecording` has started. `expectations` is a function of the recording.
package protocol Scenario: Sendable {
    var name: String { get }
    /// One line that says what the scenario demonstrates.
    var summary: String { get }
    /// True if everything that the library traces is recorded. Scenarios of the document's technique record themselves.
    var isTraced: Bool { get }
    /// True if it shows its results itself while it runs, and not only by its records.
    var showsItself: Bool { get }

    /// The steps. Runs on the main thread; it may block it, and may run its run loop. Returns when everything has been
    /// handled, or throws when one wait takes longer than the environment's timeout.
    func run(in environment: ScenarioEnvironment) throws

    /// The claims about the scenario's run, each with its result.
    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation]

    /// Text to print below the records, or nil. In a log its lines begin with `# `, and comparisons skip them.
    func report(on run: RecordedRun) -> String?
}

extension Scenario {
    package var isTraced: Bool { true }

    package var showsItself: Bool { false }

    package func report(on run: RecordedRun) -> String? { nil }

    package func perform(in environment: ScenarioEnvironment) throws {
        precondition(Thread.isMainThread, "A scenario runs the main thread's run loop.")
        if isTraced {
            try ScenarioRecording.trace { try run(in: environment) }
        } else {
            try run(in: environment)
        }
    }
}

/// The scenarios, in reading order for a newcomer.
package enum ScenarioCatalog {
    package static let all: [any Scenario] = [
        PostingThreadScenario(), RedirectScenario(), BackgroundObserverScenario(), HeldMessageScenario(),
        FloodScenario(), ObserverLifetimeScenario(), ManyObserversScenario(), PerformBlockScenario(),
        PostingStylesScenario(), DistributedScenario(), MachinesScenario(),
    ]
}
