/// Outcomes that an overflow policy or the coalescing of a posting queue leaves to chance: whether a notification is
/// delivered depends on how fast its target thread is.
///
/// If notifications for an observer were dropped or coalesced in one of the runs, or notifications with a name in a
/// posting queue, only what must hold in every run is compared:
///
/// - A notification that has an outcome in one run has an outcome in the other.
/// - Deliveries that both runs have are the same, in the same order, with everything that their handlers do.
/// - The last notification for the observer is delivered in both runs or in neither. For policies that drop new
///   notifications, this holds for the first one.
struct ChanceOutcomes {
    /// Numbers for names of notifications with such outcomes.
    let topics: Set<Int>
    /// The observers of each run of which the policy never drops the last notification, or the first one.
    private let keepsLast: Pair<[Int32: Bool]>
    var isEmpty: Bool { topics.isEmpty }

    /// - Parameter runs: none if nothing is left to chance.
    init(_ runs: Pair<ComparedRun>?) {
        let byPolicy = (runs ?? Pair(ComparedRun(), ComparedRun())).map { $0.outcomes.values.filter(\.isByPolicy) }
        topics = Set((byPolicy.first + byPolicy.second).map(\.topic))
        keepsLast = byPolicy.map { Dictionary($0.map { ($0.delivery.observer, $0.keepsLast) }) { $0 || $1 } }
    }

    /// For each line: true for such outcomes, and for everything that they cause.
    func all(_ run: ComparedRun) -> [Bool] {
        var isChance = Array(repeating: false, count: run.lines.count)
        for (number, line) in run.lines.enumerated() where !isEmpty {
            let isCaused = line.cause >= 0 && isChance[Int(line.cause)]
            isChance[number] = isCaused || run.outcomes[Int32(number)].map { topics.contains($0.topic) } ?? false
        }
        return isChance
    }

    /// True if a line is an outcome that may be another in the other run.
    func contains(_ line: Int32, _ side: RunSide, _ runs: Pair<ComparedRun>, _ renaming: Renaming) -> Bool {
        guard !isEmpty, let outcome = runs[side].outcomes[line], topics.contains(outcome.topic) else { return false }
        let (delivery, other) = (outcome.delivery, side.opposite)
        let counterpart = renaming.counterpart(of: delivery, on: side)
        func found(_ delivery: ComparedRun.Delivery, _ side: RunSide) -> ComparedRun.Outcome? {
            runs[side].outcomeOfDelivery[delivery].flatMap { runs[side].outcomes[$0] }
        }
        let policies = [keepsLast[side][delivery.observer], keepsLast[other][counterpart.observer]].compactMap(\.self)
        guard !policies.isEmpty else { return false }
        if delivery.observer >= 0, let ends = runs[side].ends[delivery.observer],
            let others = runs[other].ends[counterpart.observer]
        {
            // What the policy always delivers.
            let (own, match) = policies.contains(true) ? (ends.last, others.last) : (ends.first, others.first)
            let isDelivered = found(own, side)?.isDelivered ?? false
            if delivery == own || counterpart == match, isDelivered != found(match, other)?.isDelivered ?? false {
                return false
            }
        }
        // Without a counterpart, the post is caused by another such outcome, or the outcome is missing.
        guard let match = found(counterpart, other) else { return counterpart.post < 0 || runs[other].isTruncated }
        return outcome.isByPolicy || match.isByPolicy
    }
}
