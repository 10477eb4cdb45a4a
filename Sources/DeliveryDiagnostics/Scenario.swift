/// Something that happens with notifications and threads, recorded and checked.
///
/// `perform` makes records; `expectations` is a function of records, so a recording can be checked again anywhere.
public protocol Scenario: Sendable {
    /// What it is called on the command line.
    var name: String { get }
    /// What it shows, in one line.
    var summary: String { get }
    /// Which options of `ScenarioOptions` mean something to it.
    var options: Set<ScenarioOptions.Name> { get }

    /// - Throws: `ScenarioError.optionOutOfRange` for the first option that has a value that it cannot have here.
    func validate(_ options: ScenarioOptions) throws(ScenarioError)

    /// Lets it happen. Called on the main thread, which it may block and whose run loop it may run; returns when
    /// all is over, or throws within the environment's limit.
    func perform(in environment: ScenarioEnvironment) throws

    /// What must be true of its records.
    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation]

    /// Text to print below the records, or nil. In a log its lines begin with `# `, and are not compared.
    func report(on records: [DeliveryRecord]) -> String?
}

extension Scenario {
    public var options: Set<ScenarioOptions.Name> { [] }

    public func validate(_ options: ScenarioOptions) throws(ScenarioError) { try options.validate() }

    public func report(on records: [DeliveryRecord]) -> String? { nil }
}

/// The scenarios, in the order in which a newcomer reads them.
public enum Scenarios {
    public static let all: [any Scenario] = [
        PostingThreadScenario(), RedirectScenario(), BackgroundObserverScenario(), HeldMessageScenario(),
        FloodScenario(), ObserverLifetimeScenario(), ManyObserversScenario(), PerformBlockScenario(),
        PinnedActorScenario(), DeadlockCycleScenario(), ThreadExitScenario(), OverflowScenario(), RemovalScenario(),
        PostingStylesScenario(), CoalescingScenario(), RunLoopModesScenario(), DistributedScenario(),
        SuspensionScenario(), ServerRestartScenario(),
    ]

    public static func named(_ name: String) -> (any Scenario)? {
        all.first { $0.name == name }
    }
}
