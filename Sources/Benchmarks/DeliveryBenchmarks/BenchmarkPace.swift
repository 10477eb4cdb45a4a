/// How long rounds last: shorter, if all that is to be measured would take too long.
struct BenchmarkPace {
    /// In nanoseconds. Short enough for many of them, and long enough for a million of what is fast.
    private let wanted: UInt64
    private let least: UInt64
    private let budget: UInt64
    private let rounds: Int

    init(isQuick: Bool, rounds: Int) {
        wanted = isQuick ? 2_000_000 : 60_000_000
        least = wanted / 10
        // More rounds than usual were asked for, with the time that they need.
        let usual: UInt64 = isQuick ? 5_000_000_000 : 180_000_000_000
        budget = usual * UInt64(max(7, rounds)) / 7
        self.rounds = rounds
    }

    func roundLength(elapsed: UInt64, contendersLeft: Int) -> UInt64 {
        // To find out how long a round is takes two rounds more.
        let turns = UInt64(max(1, contendersLeft * (rounds + 2)))
        return min(wanted, max(least, (budget - min(budget, elapsed)) / turns))
    }
}
