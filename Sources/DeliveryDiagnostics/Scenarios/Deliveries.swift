internal import Foundation
internal import ThreadedNotifications

/// The records of a run, looked at post by post and observer by observer, and what a scenario may expect of them.
///
/// What belongs together is the audit's to say; here it is what a scenario asks for.
struct Deliveries {
    /// A post and its delivery to an observer.
    struct Delivery {
        var posted: DeliveryRecord
        var delivered: DeliveryRecord
        /// Nil if nothing was registered.
        var registered: DeliveryRecord?
    }

    let records: [DeliveryRecord]
    /// The places of the records of a post, and of those that register. Places and not copies: a flood has millions.
    private var posts: [Int] = []
    private var registrations: [Int] = []
    /// The first registration of each observer, as an index of `registrations`.
    private var ranks: [Int?: Int] = [:]
    /// The places of a post and its delivery, in the order in which they were delivered.
    private var deliveredPairs: [(post: Int, delivery: Int)] = []
    /// What was posted for an observer and met no fate: the place of the post.
    private var pending: [(post: Int, observer: Int?)] = []
    /// The places of fates: other than delivery, of what had one already, and of what was not posted for the observer.
    private var otherFates: [Int] = []
    private var secondFates: [Int] = []
    private var unpostedFates: [Int] = []
    /// How many fates each notification met that was handed to a posting queue: being posted is one.
    private var fatesOfEnqueued: [Int?: Int] = [:]
    /// What became of all that was enqueued, and of what was under each name.
    private var enqueued = DeliveryCounters()
    private var enqueuedByName: [String?: DeliveryCounters] = [:]
    /// What became of what was posted for each observer.
    private var countsByObserver: [Int?: ObserverCounts] = [:]
    /// The places of the library's counts for observers, and what the records told by then.
    private var counted: [(place: Int, recorded: ObserverCounts)] = []
    /// The place of the library's last count for a posting queue.
    private var queueCounted: Int?

    init(_ records: [DeliveryRecord]) {
        self.records = records
        var builder = RecordingBuilder(source: "the run")
        for (place, record) in records.enumerated() {
            // A line is a place here: a recording is in the order of time, and what a test has changed need not be.
            var record = record
            record.sequence = place + 1
            builder.append(record)
        }
        let index = DeliveryIndex(builder.finish())
        var isCounted = Array(repeating: false, count: index.pairs.count)
        for (number, entry) in index.recording.entries.enumerated() {
            let place = Int(entry.line) - 1
            let record = records[place]
            switch entry.stage {
            case .register:
                if ranks[record.observer] == nil { ranks[record.observer] = registrations.count }
                registrations.append(place)
            case .enqueue:
                fatesOfEnqueued[record.post] = entry.post < 0 ? 0 : Int(index.queueFates[Int(entry.post)])
                countEnqueued(record)
            case .post:
                posts.append(place)
                if entry.post >= 0, index.enqueued[Int(entry.post)] >= 0 { countEnqueued(record) }
                countMatches(entry, index)
            case .coalesce, .dequeue, .targetGone:
                if entry.observer < 0, entry.post >= 0, index.enqueued[Int(entry.post)] >= 0 { countEnqueued(record) }
            case .count where record.observer == nil:
                queueCounted = place
            case .count:
                counted.append((place, countsByObserver[record.observer] ?? ObserverCounts()))
            default: break
            }
            let pair = Int(index.pairOfEntry[number])
            guard pair >= 0, index.pairs[pair].kind != .block else { continue }
            guard Self.isPosted(index.pairs[pair], index) else {
                if entry.stage.isFate { unpostedFates.append(place) }
                continue
            }
            if !isCounted[pair], index.pairs[pair].skip < 0 {
                isCounted[pair] = true
                countsByObserver[record.observer, default: ObserverCounts()].posted += 1
            }
            count(record, Int32(number), of: index.pairs[pair], index)
        }
        pending.sort { ($0.post, $0.observer ?? 0) < ($1.post, $1.observer ?? 0) }
    }

    /// Whether it was posted, and while its observer was there: a scenario records from the beginning.
    private static func isPosted(_ pair: DeliveryIndex.Pair, _ index: DeliveryIndex) -> Bool {
        let posted = index.posted[Int(pair.post)]
        guard posted >= 0, pair.observer >= 0 else { return posted >= 0 }
        let removed = index.removed[Int(pair.observer)]
        return index.registered[Int(pair.observer)] >= 0 && (removed < 0 || removed > posted)
    }

    /// Compares how many observers a post matched with how many records tell of.
    private mutating func countMatches(_ entry: Recording.Entry, _ index: DeliveryIndex) {
        guard entry.post >= 0 else { return }
        let place = Int(entry.line) - 1
        let matches = Int(index.matches[Int(entry.post)])
        if entry.count >= 0, matches > entry.count { unpostedFates.append(place) }
        guard entry.count > matches else { return }
        let observers = AuditWords(index: index).couldHaveMatched(entry.post)
        for missing in 0..<(Int(entry.count) - matches) {
            let observer = missing < observers.count ? index.recording.observers[Int(observers[missing])].number : nil
            countsByObserver[observer, default: ObserverCounts()].posted += 1
            pending.append((place, observer))
        }
    }

    /// Counts a record of a post for an observer.
    private mutating func count(
        _ record: DeliveryRecord, _ entry: Int32, of pair: DeliveryIndex.Pair, _ index: DeliveryIndex
    ) {
        let posted = index.posted[Int(pair.post)]
        let place = Int(index.entry(entry).line) - 1
        if entry == pair.secondFate { secondFates.append(place) }
        if index.isPending(pair), entry == pair.append || pair.append < 0 && entry == posted {
            pending.append((Int(index.entry(posted).line) - 1, record.observer))
        }
        guard entry == pair.fate else { return }
        countsByObserver[record.observer, default: ObserverCounts()][record.stage] += 1
        if record.stage != .deliver {
            otherFates.append(place)
        } else {
            deliveredPairs.append((Int(index.entry(posted).line) - 1, place))
        }
    }

    private mutating func countEnqueued(_ record: DeliveryRecord) {
        enqueued.count(record.stage)
        enqueuedByName[record.notification, default: DeliveryCounters()].count(record.stage)
    }

    var posted: some RandomAccessCollection<DeliveryRecord> { posts.lazy.map { records[$0] } }

    var registered: some RandomAccessCollection<DeliveryRecord> { registrations.lazy.map { records[$0] } }

    /// In the order in which they were delivered.
    var delivered: some RandomAccessCollection<Delivery> {
        deliveredPairs.lazy.map { pair in
            let delivered = records[pair.delivery]
            return Delivery(
                posted: records[pair.post], delivered: delivered,
                registered: ranks[delivered.observer].map { records[registrations[$0]] })
        }
    }

    /// What became of what was posted for an observer.
    func counts(of observer: Int?) -> ObserverCounts { countsByObserver[observer] ?? ObserverCounts() }

    /// What became of what was enqueued under a name.
    func enqueued(_ name: String) -> DeliveryCounters { enqueuedByName[name] ?? DeliveryCounters() }

    func expectRegisteredOnMain() -> Expectation {
        let elsewhere = registered.first { $0.thread.number != 1 }
        return Expectation(
            "registered on the main thread", holds: !registered.isEmpty && elsewhere == nil,
            otherwise: elsewhere.map { "registered on \($0.thread)" } ?? "nothing was registered")
    }

    func expectPostedInBackground() -> Expectation {
        let onMain = posted.first { $0.thread.number == 1 }
        return Expectation(
            "posted in the background", holds: !posted.isEmpty && onMain == nil,
            otherwise: onMain == nil ? "nothing was posted" : "posted on the main thread")
    }

    /// Every post was delivered once to each observer, and rightly so.
    func expectEachDelivered(_ claim: String, where isRight: (Delivery) -> Bool = { _ in true }) -> Expectation {
        if let fault = faultInFates { return Expectation(claim, failure: fault) }
        if let other = otherFates.first.map({ records[$0] }) {
            return Expectation(claim, failure: "\(other.postNumber) met with \(other.stage.rawValue)")
        }
        let wrong = delivered.first { !isRight($0) }
        return Expectation(
            claim, holds: wrong == nil,
            otherwise: wrong.map {
                "\($0.delivered.postNumber), posted on \($0.posted.thread), was handled on \($0.delivered.thread)"
            } ?? "")
    }

    /// Guarantee 14: what was posted for an observer met one fate.
    func expectOneFateEach(_ claim: String) -> Expectation {
        Expectation(claim, failure: faultInFates)
    }

    /// What was enqueued was posted, coalesced, dequeued or lost its thread: one of these, once.
    func expectOneFateOfEachEnqueued(_ claim: String) -> Expectation {
        let wrong = fatesOfEnqueued.filter { $0.value != 1 }.min { ($0.key ?? 0) < ($1.key ?? 0) }
        return Expectation(
            claim, holds: !fatesOfEnqueued.isEmpty && wrong == nil,
            otherwise: wrong.map { "post \($0.key ?? 0) met \($0.value) fates" } ?? "nothing was enqueued")
    }

    /// What the library counts for the one posting queue is what the records tell of it.
    func expectQueueCountsAgree(_ claim: String) -> Expectation {
        let counted = queueCounted.flatMap { records[$0].message }
        return Expectation(
            claim, holds: counted == enqueued.description,
            otherwise: "\(counted ?? "nothing was counted"), and recorded is: \(enqueued)")
    }

    private var faultInFates: String? {
        if posted.isEmpty { return "nothing was posted" }
        if let lost = pending.first {
            let observer = lost.observer.map { " to observer \($0)" } ?? ""
            let all = countsByObserver.values.reduce(0) { $0 + $1.posted }
            return "\(pending.count) of \(all) posts were not delivered, the first of them "
                + "\(records[lost.post].postNumber)\(observer)"
        }
        if let again = secondFates.first {
            return "\(records[again].postNumber) met a second fate: \(records[again].stage.rawValue)"
        }
        if let unposted = unpostedFates.first {
            return "\(records[unposted].postNumber) was delivered and not posted before, or not for this observer"
        }
        return nil
    }

    /// What the library counts for its observers is what the records tell of them.
    func expectCountsAgree(_ claim: String) -> Expectation {
        let wrong = counted.first { records[$0.place].message != $0.recorded.description }
        return Expectation(
            claim, holds: !counted.isEmpty && wrong == nil,
            otherwise: wrong.map { "\(records[$0.place].message ?? "nothing"), and recorded is: \($0.recorded)" }
                ?? "nothing was counted")
    }

    /// What one thread posted was delivered to each observer in the order in which it was posted.
    func expectOrderKept(_ claim: String) -> Expectation {
        struct Way: Hashable {
            var thread: ThreadIdentity
            var observer: Int?
        }
        var last: [Way: DeliveryRecord] = [:]
        for delivery in delivered {
            let way = Way(thread: delivery.posted.thread, observer: delivery.delivered.observer)
            if let before = last[way], before.sequence > delivery.posted.sequence {
                return Expectation(
                    claim,
                    failure: "\(delivery.posted.postNumber) of \(delivery.posted.thread) was handled after its "
                        + "\(before.postNumber), which was posted later")
            }
            last[way] = delivery.posted
        }
        return Expectation(claim, holds: !deliveredPairs.isEmpty, otherwise: "nothing was delivered")
    }

    /// Those that handle a post on one thread handled it in the order in which they were registered.
    func expectRegistrationOrder(_ claim: String) -> Expectation {
        struct Turn: Hashable {
            var post: Int?
            var thread: ThreadIdentity
        }
        var last: [Turn: Int] = [:]
        for (_, delivery) in deliveredPairs {
            let record = records[delivery]
            let turn = Turn(post: record.post, thread: record.thread)
            let rank = ranks[record.observer] ?? -1
            if let before = last[turn], before >= rank {
                return Expectation(
                    claim,
                    failure: "observer \(record.observer ?? 0) handled \(record.postNumber) after one that was "
                        + "registered later")
            }
            last[turn] = rank
        }
        return Expectation(claim, holds: !deliveredPairs.isEmpty, otherwise: "nothing was delivered")
    }
}

extension DeliveryCounters {
    /// Counts a stage of a notification in a posting queue.
    fileprivate mutating func count(_ stage: DeliveryStage) {
        switch stage {
        case .enqueue: waiting += 2
        case .post: delivered += 1
        case .coalesce: coalesced += 1
        case .dequeue: cancelled += 1
        case .targetGone: targetGone += 1
        default: return
        }
        waiting -= 1
    }
}

extension DeliveryRecord {
    fileprivate var postNumber: String { post.map { "post \($0)" } ?? "a post without a number" }
}

extension Expectation {
    /// That what the records log has the structure of a document's log.
    static func matches(_ reference: ReferenceLog, _ records: [DeliveryRecord]) -> Expectation {
        let claim = "logged as \(reference.rawValue) is"
        let style = DocumentStyle()
        let text = records.compactMap { style.line(for: $0) }.map { $0 + "\n" }.joined()
        let log = LogReader(name: "the run", bytes: Array(text.utf8))
        do throws(LogError) {
            switch try LogComparison.compare(LogReader(reference), log) {
            case .same: return Expectation(claim, failure: nil)
            case .different(let difference): return Expectation(claim, failure: difference.description)
            }
        } catch {
            return Expectation(claim, failure: error.description)
        }
    }
}
