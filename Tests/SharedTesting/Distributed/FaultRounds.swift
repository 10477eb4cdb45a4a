/// The numbers of repetitions; larger with `STRESS=1`.
package enum FaultRounds {
    package static let isStress = TestRounds.isStress
    /// The inputs of a fuzzed reader.
    package static let inputs = isStress ? 1_000_000 : 3_000
    package static let kills = isStress ? 50 : 3
    package static let coldStarts = isStress ? 20 : 2
    package static let postsToAStoppedObserver = isStress ? 500_000 : 20_000
    /// The posts of each of many threads at one center.
    package static let postsOfAThread = isStress ? 2000 : 200
    /// The failed posts of each of many threads while the server is stopped.
    package static let postsThatAreLate = isStress ? 6 : 2
    /// The connections refused by a server without descriptors, which pauses after each.
    package static let refusals = isStress ? 100 : 10
    /// The comparisons of a value with a simple reference implementation.
    package static let comparisons = isStress ? 300 : 30
}
