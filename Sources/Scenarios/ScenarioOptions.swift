/// The options of scenarios.
package struct ScenarioOptions: Sendable, Hashable {
    /// Of the flood: the number of posting threads, 1 to 256.
    package var posters = 4
    /// Of the flood: the number of notifications that all threads post together.
    package var notifications = 10_000
    /// Of the flood: the probability with which a signal is lost, 0 to 1.
    package var dropSignals = 0.9
    /// Of the flood: the seed of the generator that decides which signals are lost.
    package var seed: UInt64 = 1
    /// Of the machines: the number of posts for each fault.
    package var bridgedPosts = 500
    /// How the handler's block holds the observer. Nil means each way, one after the other.
    package var capture: ObserverCapture?

    package init() {}
}
