/// The conditions for a subject: the cores of its threads, and its timeout.
package struct BenchmarkConditions: Sendable, Hashable {
    /// The core of posting threads; nil: any core.
    package var postingCore: Int?
    /// The core of handling threads; nil: any core.
    package var targetCore: Int?
    /// The timeout after which a subject throws.
    package var timeout: Duration
    /// True if a subject with seconds of preparation should prepare less.
    package var isQuick: Bool
    /// The executable of the process that holds the observers. With `ObserversProgram.subcommand` as its first argument
    /// it calls `ObserversProgram.perform`.
    package var observersProgram: String?

    package init(
        postingCore: Int? = nil, targetCore: Int? = nil, timeout: Duration = .seconds(10),
        isQuick: Bool = false, observersProgram: String? = nil
    ) {
        self.postingCore = postingCore
        self.targetCore = targetCore
        self.timeout = timeout
        self.isQuick = isQuick
        self.observersProgram = observersProgram
    }

    /// One core for all threads, or the cores of posting and of handling threads; empty: any core.
    package var cores: [Int] {
        postingCore == targetCore ? [postingCore].compactMap(\.self) : [postingCore, targetCore].compactMap(\.self)
    }
}
