/// The length of a round. It is shorter if the whole run would take too long.
struct BenchmarkPace {
    /// In nanoseconds. Short enough for many rounds, and long enough for a million fast operations.
    private let wanted: UInt64
    private let least: UInt64
    private let budget: UInt64
    private let rounds: Int

    init(isQuick: Bool, rounds: Int) {
        wanted = isQuick ? 2_000_000 : 60_000_000
        least = wanted / 10
        // A run with more rounds than usual gets proportionally more time.
        let usual: UInt64 = isQuick ? 5_000_000_000 : 180_000_000_000
        budget = usual * UInt64(max(7, rounds)) / 7
        self.rounds = rounds
    }

    func roundLength(elapsed: UInt64, contendersLeft: Int) -> UInt64 {
        // Finding the number of operations in a round takes the time of about two rounds.
        let turns = UInt64(max(1, contendersLeft * (rounds + 2)))
        return min(wanted, max(least, (budget - min(budget, elapsed)) / turns))
    }
}
