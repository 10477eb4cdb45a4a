/// The scenarios, in reading order for a newcomer.
package enum ScenarioCatalog {
    package static let all: [any Scenario] = [
        PostingThreadScenario(), RedirectScenario(), BackgroundObserverScenario(), HeldMessageScenario(),
        FloodScenario(), ObserverLifetimeScenario(), ManyObserversScenario(), PerformBlockScenario(),
        PinnedActorScenario(), DeadlockCycleScenario(), ThreadExitScenario(), OverflowScenario(), RemovalScenario(),
        PostingStylesScenario(), CoalescingScenario(), RunLoopModesScenario(), DistributedScenario(),
        SuspensionScenario(), ServerRestartScenario(),
    ]

    package static func named(_ name: String) -> (any Scenario)? { all.first { $0.name == name } }
}
