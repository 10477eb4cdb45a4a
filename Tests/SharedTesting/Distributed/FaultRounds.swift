/// The numbers of repetitions; larger with `STRESS=1`.
package enum FaultRounds {
    /// The inputs of a fuzzed reader.
    package static let inputs = TestRounds.rounds(3_000, stress: 1_000_000)
    package static let kills = TestRounds.rounds(3, stress: 50)
    /// The posts of each of many threads at one center.
    package static let postsOfAThread = TestRounds.rounds(200, stress: 2000)
    /// The comparisons of a value with a simple reference implementation.
    package static let comparisons = TestRounds.rounds(30, stress: 300)
}
