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
    typealias Entries = (first: [Int], second: [Int])

    /// The names of notifications with such outcomes.
    let names: [String]
    /// All outcomes of notifications with these names, and the counters of their observers and queues.
    let all: Entries
    private let one: RunOutcomes
    private let other: RunOutcomes

    /// Nil if neither run has such outcomes.
    init?(_ one: ComparedRun, _ other: ComparedRun) {
        var (observed, queued): (Set<Int32>, Set<Int32>) = ([], [])
        var names: Set<String> = []
        for run in [one, other] {
            for entry in run.recording.entries where entry.stage.isByPolicy && entry.name >= 0 {
                let number = run.nameNumber(of: entry)
                let isNew = entry.observer < 0 ? queued.insert(number).inserted : observed.insert(number).inserted
                if isNew { names.insert(run.recording.strings[Int(entry.name)]) }
            }
        }
        guard !names.isEmpty else { return nil }
        self.names = names.sorted()
        self.one = RunOutcomes(one, observed: observed, queued: queued)
        self.other = RunOutcomes(other, observed: observed, queued: queued)
        all = (self.one.all, self.other.all)
    }

    /// The outcomes that differ by chance, and the counters of their observers and queues.
    ///
    /// - Parameter walk: matches everything except `all`.
    func byChance(_ walk: RunWalk) -> Entries {
        // Observers of the first run, with -1 for posting queues.
        let observers = one.byPolicy.union(other.byPolicy.map { walk.observers.inFirst($0) })
        let isLast = one.keepsLast.union(other.keepsLast.map { walk.observers.inFirst($0) })
        var kept: Set<RunOutcomes.Pair> = []
        for observer in observers {
            let inSecond = walk.observers.inSecond(observer)
            let (ends, otherEnds) = (one.ends[observer], other.ends[inSecond])
            guard observer >= 0, inSecond >= 0, let ends, let otherEnds else { continue }
            let pair = isLast.contains(observer) ? ends.last : ends.first
            let match = isLast.contains(observer) ? otherEnds.last : otherEnds.first
            guard one.isDelivered(pair) != other.isDelivered(match) else { continue }
            kept.formUnion([pair, .init(post: walk.posts.inFirst(match.post), observer: observer)])
        }
        var entries: Entries = (one.counters(of: observers), [])
        entries.second = other.counters(of: Set(observers.map { walk.observers.inSecond($0) }))
        for (pair, outcome) in one.outcomes where observers.contains(pair.observer) && !kept.contains(pair) {
            let post = walk.posts.inSecond(pair.post)
            let counterpart = other.outcomes[.init(post: post, observer: walk.observers.inSecond(pair.observer))]
            // Without a counterpart the post is caused by another outcome, or the outcome is missing.
            let isChance =
                counterpart.map { outcome.isByPolicy || $0.isByPolicy } ?? (post < 0 || other.isTruncated)
            guard isChance else { continue }
            entries.first.append(outcome.index)
            if let counterpart { entries.second.append(counterpart.index) }
        }
        for (match, outcome) in other.outcomes {
            let pair = RunOutcomes.Pair(
                post: walk.posts.inFirst(match.post), observer: walk.observers.inFirst(match.observer))
            guard observers.contains(pair.observer), !kept.contains(pair), one.outcomes[pair] == nil else { continue }
            if pair.post < 0 || one.isTruncated { entries.second.append(outcome.index) }
        }
        return entries
    }
}

/// The outcomes of one run that may be left to chance.
private struct RunOutcomes {
    /// A post for an observer, or in a posting queue if the observer is -1.
    struct Pair: Hashable {
        var post: Int32
        var observer: Int32
    }

    struct Outcome {
        var index: Int
        var stage: DeliveryStage
        var isByPolicy: Bool { stage.isByPolicy }
    }

    private(set) var outcomes: [Pair: Outcome] = [:]
    /// The observers with outcomes by policy, and -1 if a posting queue coalesced.
    private(set) var byPolicy: Set<Int32> = []
    /// Those whose policy never drops the last notification.
    private(set) var keepsLast: Set<Int32> = []
    /// For each observer: what was enqueued first and last for it.
    private(set) var ends: [Int32: (first: Pair, last: Pair)] = [:]
    let isTruncated: Bool
    /// The indices of the counters of each observer, and of posting queues.
    private var counters: [Int32: [Int]] = [:]

    /// - Parameter observed: the names of the outcomes of observers (see `ComparedTexts`).
    /// - Parameter queued: the names of the outcomes in posting queues.
    init(_ run: ComparedRun, observed: Set<Int32>, queued: Set<Int32>) {
        isTruncated = run.isTruncated
        var enqueued: Set<Int32> = []
        for (index, entry) in run.recording.entries.enumerated() {
            let pair = Pair(post: entry.post, observer: entry.observer)
            if entry.stage == .count { counters[entry.observer, default: []].append(index) }
            guard entry.post >= 0, (entry.observer < 0 ? queued : observed).contains(run.nameNumber(of: entry)) else {
                continue
            }
            switch entry.stage {
            case .enqueue: enqueued.insert(entry.post)
            case .append: ends[entry.observer] = (ends[entry.observer]?.first ?? pair, pair)
            case .coalesce, .drop, .deliver, .cancel, .targetGone, .post, .dequeue:
                guard entry.observer >= 0 || enqueued.contains(entry.post) else { continue }
                outcomes[pair] = Outcome(index: index, stage: entry.stage)
                guard entry.stage.isByPolicy else { continue }
                byPolicy.insert(entry.observer)
                if entry.stage == .coalesce || entry.policy == .dropOldest { keepsLast.insert(entry.observer) }
            default: continue
            }
        }
    }

    func isDelivered(_ pair: Pair) -> Bool { outcomes[pair]?.stage == .deliver }

    func counters(of observers: Set<Int32>) -> [Int] { observers.flatMap { counters[$0] ?? [] } }

    /// All outcomes, and the counters of all that have one.
    var all: [Int] { outcomes.values.map(\.index) + counters(of: Set(outcomes.keys.map(\.observer))) }
}

extension DeliveryStage {
    /// True for the outcomes that depend on how many notifications wait.
    fileprivate var isByPolicy: Bool { self == .coalesce || self == .drop }
}
