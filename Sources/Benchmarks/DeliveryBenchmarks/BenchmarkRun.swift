internal import Dispatch

/// Measures workloads in rounds. Each round runs every contender, so that a temporary disturbance of the machine
/// affects all of them.
package struct BenchmarkRun: Sendable {
    package var conditions: BenchmarkConditions
    package var rounds: Int
    package var isQuick: Bool

    /// - Parameter rounds: nil: 7, which is enough for quartiles, or 3 for a quick run.
    package init(conditions: BenchmarkConditions = BenchmarkConditions(), rounds: Int? = nil, isQuick: Bool = false) {
        self.conditions = conditions
        self.rounds = rounds ?? (isQuick ? 3 : 7)
        self.isQuick = isQuick
    }

    /// The order of the contenders in a round. Each round begins with another contender, because the first one finds
    /// the machine in a different state.
    static func order(round: Int, contenders: Int) -> [Int] {
        (0..<contenders).map { (round + $0) % contenders }
    }

    /// Measures on the calling thread, which must be the main thread. A contender that fails is not measured again, and
    /// its result gives the reason.
    ///
    /// - Parameters:
    ///   - now: a monotonic clock, in nanoseconds.
    /// - progress: called with a description of the next measurement.
    package func perform(
        _ workloads: [Workload], now: () -> UInt64 = { DispatchTime.now().uptimeNanoseconds },
        progress: (String) -> Void = { _ in }
    ) -> [WorkloadResult] {
        let pace = BenchmarkPace(isQuick: isQuick, rounds: rounds)
        let begun = now()
        var contendersLeft = workloads.reduce(0) { $0 + $1.contenders.count }
        return workloads.enumerated().map { index, workload in
            let position = workloads.count > 1 ? "\(index + 1) of \(workloads.count), " : ""
            let length = pace.roundLength(elapsed: now() - begun, contendersLeft: contendersLeft)
            contendersLeft -= workload.contenders.count
            return perform(workload, roundLength: length, now: now) { progress("\(position)\(workload.name): \($0)") }
        }
    }

    private func perform(
        _ workload: Workload, roundLength: UInt64, now: () -> UInt64, progress: (String) -> Void
    ) -> WorkloadResult {
        let range = isQuick ? workload.quickOperations : workload.operations
        progress("preparing")
        var conditions = conditions
        conditions.isQuick = isQuick
        let size = RoundSize(range: range, length: roundLength)
        var entrants = workload.contenders.map { BenchmarkEntrant($0, in: workload.unit, conditions, size) }
        for index in entrants.indices {
            progress("warming up \(entrants[index].name)")
            entrants[index].warmUp(now: now)
        }
        for round in 0..<rounds {
            progress("round \(round + 1) of \(rounds)")
            for index in Self.order(round: round, contenders: entrants.count) { entrants[index].measure() }
        }
        progress("ending")
        return WorkloadResult(workload, entrants.indices.map { entrants[$0].finish() })
    }
}
