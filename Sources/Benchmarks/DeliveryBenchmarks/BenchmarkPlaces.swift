/// What a subject must know: where its threads run, and how long they may take.
package struct BenchmarkPlaces: Sendable, Hashable {
    /// The core of threads that post; nil: any.
    package var postingCore: Int?
    /// The core of threads that handle; nil: any.
    package var targetCore: Int?
    /// Whether threads may spin before they sleep.
    package var spins: Bool
    /// How long a subject waits for what should happen, before it throws.
    package var limit: Duration
    /// Whether what takes seconds to prepare should be less.
    package var isQuick: Bool
    /// The executable of the process that holds the observers. With `ObserversProgram.subcommand` as its first argument
    /// it calls `ObserversProgram.perform`.
    package var observersProgram: String?

    package init(
        postingCore: Int? = nil, targetCore: Int? = nil, spins: Bool = true, limit: Duration = .seconds(10),
        isQuick: Bool = false, observersProgram: String? = nil
    ) {
        self.postingCore = postingCore
        self.targetCore = targetCore
        self.spins = spins
        self.limit = limit
        self.isQuick = isQuick
        self.observersProgram = observersProgram
    }

    /// One for all, or that of posting threads and that of handling threads; empty: any.
    package var cores: [Int] {
        postingCore == targetCore ? [postingCore].compactMap(\.self) : [postingCore, targetCore].compactMap(\.self)
    }
}
