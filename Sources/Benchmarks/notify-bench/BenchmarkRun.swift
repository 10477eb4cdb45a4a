internal import CControl

/// What a subject needs to know of a run.
package struct BenchmarkConditions: Sendable, Hashable {
    /// The timeout after which a subject throws.
    package var timeout = Duration.seconds(10)
    /// True if a subject with seconds of preparation should prepare less.
    package var isQuick = false

    package init() {}
}

/// Measures workloads in rounds. Each round runs every contender, so that a temporary disturbance of the machine
/// affects all of them.
package struct BenchmarkRun: Sendable {
    package var conditions: BenchmarkConditions
    package var rounds: Int

    /// - Parameter rounds: nil: 7, which is enough for quartiles, or 3 for a quick run.
    package init(conditions: BenchmarkConditions = BenchmarkConditions(), rounds: Int? = nil) {
        self.conditions = conditions
        self.rounds = rounds ?? (conditions.isQuick ? 3 : 7)
    }

    /// Measures on the calling thread, which must be the main thread. A contender that fails is not measured again, and
    /// its result gives the reason.
    ///
    /// - Parameters:
    ///   - now: a monotonic clock, in nanoseconds.
    ///   - progress: called with a description of the next measurement.
    package func perform(
        _ workloads: [Workload], now: () -> Int64 = CControlNow, progress: (String) -> Void = { _ in }
    ) -> [WorkloadResult] {
        let begun = now()
        var left = workloads.reduce(0) { $0 + $1.contenders.count }
        return workloads.enumerated().map { index, workload in
            let position = workloads.count > 1 ? "\(index + 1) of \(workloads.count), " : ""
            let length = roundLength(elapsed: now() - begun, contendersLeft: left)
            left -= workload.contenders.count
            return perform(workload, roundLength: length, now: now) { progress("\(position)\(workload.name): \($0)") }
        }
    }

    /// In nanoseconds: short enough for many rounds, and long enough for a million fast operations. Rounds are shorter
    /// if the whole run would take too long.
    private func roundLength(elapsed: Int64, contendersLeft: Int) -> Int64 {
        let wanted: Int64 = conditions.isQuick ? 2_000_000 : 60_000_000
        // A run with more rounds than usual gets proportionally more time.
        let budget = (conditions.isQuick ? 5_000_000_000 : 180_000_000_000) * Int64(max(7, rounds)) / 7
        // Finding the number of operations in a round takes the time of about two rounds.
        let turns = Int64(max(1, contendersLeft * (rounds + 2)))
        return min(wanted, max(wanted / 10, (budget - elapsed) / turns))
    }

    private func perform(
        _ workload: Workload, roundLength: Int64, now: () -> Int64, progress: (String) -> Void
    ) -> WorkloadResult {
        progress("preparing")
        var entrants = workload.contenders.map { BenchmarkEntrant($0, of: workload, conditions) }
        for index in entrants.indices {
            progress("warming up \(entrants[index].name)")
            entrants[index].warmUp(roundLength: roundLength, now: now)
        }
        for round in 0..<rounds {
            progress("round \(round + 1) of \(rounds)")
            // Each round begins with another contender, because the first one finds the machine in a different state.
            for turn in entrants.indices { entrants[(round + turn) % entrants.count].measure() }
        }
        progress("ending")
        return WorkloadResult(workload, entrants.indices.map { entrants[$0].finish() })
    }
}
