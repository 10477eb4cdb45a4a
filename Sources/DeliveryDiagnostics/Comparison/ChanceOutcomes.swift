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
    /// The names of notifications with such outcomes.
    let names: [String]
    private let runs: Pair<ComparedRun>
    private let outcomes: Pair<RunOutcomes>

    /// Nil if neither run has such outcomes.
    init?(_ runs: Pair<ComparedRun>) {
        var (observed, queued): (Set<Int32>, Set<Int32>) = ([], [])
        var names: Set<String> = []
        for run in [runs.first, runs.second] {
            for entry in run.recording.entries where entry.stage.isByPolicy && entry.name >= 0 {
                let number = run.nameNumber(of: entry)
                let isNew = entry.observer < 0 ? queued.insert(number).inserted : observed.insert(number).inserted
                if isNew { names.insert(run.recording.strings[Int(entry.name)]) }
            }
        }
        guard !names.isEmpty else { return nil }
        self.names = names.sorted()
        self.runs = runs
        outcomes = runs.map { [observed, queued] in RunOutcomes($0, observed: observed, queued: queued) }
    }

    /// All outcomes of notifications with these names.
    var all: Pair<[Int]> { outcomes.map { Array($0.records.values) } }

    /// The outcomes that differ by chance.
    ///
    /// - Parameter walk: matches everything except `all`.
    func byChance(_ walk: RunWalk) -> Pair<[Int]> {
        typealias Key = RunOutcomes.Key
        func counterpart(of key: Key, on side: RunSide) -> Key {
            Key(
                post: walk.posts.counterpart(of: key.post, on: side),
                observer: walk.observers.counterpart(of: key.observer, on: side))
        }
        // Observers of the first run, with -1 for posting queues: whether the last notification is never dropped.
        var keepsLast = outcomes.first.keepsLast
        for (observer, isLast) in outcomes.second.keepsLast {
            let observer = walk.observers.counterpart(of: observer, on: .second)
            keepsLast[observer] = isLast || keepsLast[observer] == true
        }
        // Notifications that the policy always delivers, but that only one run delivered.
        var kept: Set<Key> = []
        for (observer, isLast) in keepsLast {
            guard observer >= 0, let ends = outcomes.first.ends[observer],
                let otherEnds = outcomes.second.ends[walk.observers.counterpart(of: observer, on: .first)]
            else { continue }
            let (key, match) = isLast ? (ends.last, otherEnds.last) : (ends.first, otherEnds.first)
            guard isDelivered(key, on: .first) != isDelivered(match, on: .second) else { continue }
            kept.formUnion([key, counterpart(of: match, on: .second)])
        }
        var entries = Pair<[Int]>([], [])
        for side in RunSide.allCases {
            for (key, record) in outcomes[side].records {
                let match = counterpart(of: key, on: side)
                let keyInFirst = side == .first ? key : match
                guard keepsLast[keyInFirst.observer] != nil, !kept.contains(keyInFirst) else { continue }
                let other = outcomes[side.opposite].records[match]
                // Without a counterpart the post is caused by another outcome, or the outcome is missing.
                let isChance =
                    other.map { stage(record, side).isByPolicy || stage($0, side.opposite).isByPolicy }
                    ?? (match.post < 0 || runs[side.opposite].isTruncated)
                if isChance { entries[side].append(record) }
            }
        }
        return entries
    }

    private func stage(_ record: Int, _ side: RunSide) -> DeliveryStage { runs[side].recording.entries[record].stage }

    private func isDelivered(_ key: RunOutcomes.Key, on side: RunSide) -> Bool {
        outcomes[side].records[key].map { stage($0, side) } == .deliver
    }
}

/// The outcomes of one run that may be left to chance.
private struct RunOutcomes {
    /// A post for an observer, or in a posting queue if the observer is -1.
    struct Key: Hashable {
        var post: Int32
        var observer: Int32
    }

    /// The record of each outcome.
    private(set) var records: [Key: Int] = [:]
    /// For the observers with outcomes by policy, and for -1 if a posting queue coalesced: whether the policy never
    /// drops the last notification.
    private(set) var keepsLast: [Int32: Bool] = [:]
    /// For each observer: what was enqueued first and last for it.
    private(set) var ends: [Int32: (first: Key, last: Key)] = [:]

    /// - Parameter observed: the names of the outcomes of observers (see `ComparedTexts`).
    /// - Parameter queued: the names of the outcomes in posting queues.
    init(_ run: ComparedRun, observed: Set<Int32>, queued: Set<Int32>) {
        for (number, entry) in run.recording.entries.enumerated() {
            guard entry.post >= 0, (entry.observer < 0 ? queued : observed).contains(run.nameNumber(of: entry)) else {
                continue
            }
            let key = Key(post: entry.post, observer: entry.observer)
            if entry.stage == .append { ends[entry.observer] = (ends[entry.observer]?.first ?? key, key) }
            let isOutcome =
                entry.observer < 0
                ? run.index.posts[Int(entry.post)].queueOutcome == number : entry.stage.isOutcome
            guard isOutcome else { continue }
            records[key] = number
            guard entry.stage.isByPolicy else { continue }
            let isLast = entry.stage == .coalesce || entry.policy == .dropOldest
            keepsLast[entry.observer] = isLast || keepsLast[entry.observer] == true
        }
    }
}

extension DeliveryStage {
    /// True for the outcomes that depend on how many notifications wait.
    fileprivate var isByPolicy: Bool { self == .coalesce || self == .drop }
}
