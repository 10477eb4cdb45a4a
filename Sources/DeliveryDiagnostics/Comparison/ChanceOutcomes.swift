internal import DeliveryRecording

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

    static let none = ChanceOutcomes([])

    init(_ runs: Pair<ComparedRun>) { self.init([runs.first, runs.second]) }

    private init(_ runs: [ComparedRun]) {
        let byPolicy = runs.map { $0.outcomes.values.filter(\.isByPolicy) }
        topics = Set(byPolicy.joined().map(\.topic))
        let kept = byPolicy.map { outcomes in
            Dictionary(outcomes.map { ($0.delivery.observer, $0.keepsLast) }, uniquingKeysWith: { $0 || $1 })
        }
        keepsLast = Pair(kept.first ?? [:], kept.last ?? [:])
    }

    /// For each line: true for such outcomes, and for everything that they cause.
    func all(_ runs: Pair<ComparedRun>) -> Pair<[Bool]> {
        runs.map { run in
            var isChance = Array(repeating: false, count: run.lines.count)
            for (number, line) in run.lines.enumerated() where !topics.isEmpty {
                let isCaused = line.cause >= 0 && isChance[Int(line.cause)]
                isChance[number] = isCaused || run.outcomes[Int32(number)].map { topics.contains($0.topic) } ?? false
            }
            return isChance
        }
    }

    /// True if a line is an outcome that may be another in the other run.
    func contains(_ line: Int32, _ side: RunSide, _ runs: Pair<ComparedRun>, _ renaming: Renaming) -> Bool {
        guard !topics.isEmpty, let outcome = runs[side].outcomes[line], topics.contains(outcome.topic) else {
            return false
        }
        let other = side.opposite
        let counterpart = renaming.counterpart(of: outcome.delivery, on: side)
        func found(_ delivery: ComparedRun.Delivery, _ side: RunSide) -> ComparedRun.Outcome? {
            runs[side].outcomeOfDelivery[delivery].flatMap { runs[side].outcomes[$0] }
        }
        let observers = Pair(outcome.delivery.observer, counterpart.observer)
        let policies = [keepsLast[side][observers.first], keepsLast[other][observers.second]].compactMap(\.self)
        guard !policies.isEmpty else { return false }
        if let ends = runs[side].ends[observers.first], let otherEnds = runs[other].ends[observers.second],
            observers.first >= 0
        {
            // What the policy always delivers.
            let isLast = policies.contains(true)
            let (own, match) = isLast ? (ends.last, otherEnds.last) : (ends.first, otherEnds.first)
            let isKept = outcome.delivery == own || counterpart == match
            let isDelivered = found(own, side)?.isDelivered ?? false
            if isKept, isDelivered != found(match, other)?.isDelivered ?? false { return false }
        }
        // Without a counterpart, the post is caused by another such outcome, or the outcome is missing.
        guard let match = found(counterpart, other) else {
            return counterpart.post < 0 || runs[other].isTruncated
        }
        return outcome.isByPolicy || match.isByPolicy
    }

    /// The names of notifications with such outcomes.
    func names(_ recordings: Pair<ComparedRecording>) -> [String] {
        let names = [recordings.first, recordings.second].flatMap { recording in
            recording.run.outcomes.filter { topics.contains($0.value.topic) }.keys.compactMap {
                recording.recording.name(of: recording.index.entry($0))
            }
        }
        return Set(names).sorted()
    }
}
