internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// A scenario's records, grouped by post and by observer, and the expectations that scenarios share.
///
/// `RecordingIndex` pairs the records; this type adds the questions that scenarios ask.
struct Deliveries {
    /// A post and its delivery to an observer.
    struct Delivery {
        var posted: DeliveryRecord
        var delivered: DeliveryRecord
        /// Nil if the observer has no register record.
        var registered: DeliveryRecord?
    }

    let records: [DeliveryRecord]
    /// Indices of post records and of register records. They are indices and not copies because a flood has millions of
    /// records.
    private var posts: [Int] = []
    private var registrations: [Int] = []
    /// The first registration of each observer, as an index of `registrations`.
    private var ranks: [Int?: Int] = [:]
    /// The indices of each post and its delivery, in order of delivery.
    private var deliveredPairs: [(post: Int, delivery: Int)] = []
    /// The (post, observer) pairs without an outcome: the index of the post, and the observer.
    private var unresolved: [(post: Int, observer: Int?)] = []
    /// Indices of outcome records: outcomes other than delivery, second outcomes of a pair, and outcomes without a
    /// matching post.
    private var otherOutcomes: [Int] = []
    private var secondOutcomes: [Int] = []
    private var unpostedOutcomes: [Int] = []
    /// The number of outcomes of each notification that was handed to a posting queue. Being posted is one.
    private var outcomesOfEnqueued: [Int?: Int] = [:]
    /// The counters of everything enqueued, and of each name.
    private var enqueued = DeliveryCounters()
    private var enqueuedByName: [String?: DeliveryCounters] = [:]
    /// The counters of each observer.
    private var countsByObserver: [Int?: ObserverCounts] = [:]
    /// Indices of the library's counter records for observers, each with the recorded counters up to it.
    private var counterRecords: [(index: Int, recorded: ObserverCounts)] = []
    /// The index of the library's last counter record for a posting queue.
    private var queueCounterRecord: Int?

    init(_ records: [DeliveryRecord]) {
        self.records = records
        // An entry's line is the record's index here: a recording is in the order of time, and records that a test has
        // changed need not be.
        let numbered = records.enumerated().map { index, record in
            var record = record
            record.sequence = index + 1
            return record
        }
        let index = RecordingIndex(Recording(numbered))
        var isCounted = Array(repeating: false, count: index.deliveries.count)
        for (number, entry) in index.recording.entries.enumerated() {
            let position = Int(entry.line) - 1
            let record = records[position]
            switch entry.stage {
            case .register:
                if ranks[record.observer] == nil { ranks[record.observer] = registrations.count }
                registrations.append(position)
            case .enqueue:
                outcomesOfEnqueued[record.post] = entry.post < 0 ? 0 : index.posts[Int(entry.post)].queueOutcomeCount
                countEnqueued(record)
            case .post:
                posts.append(position)
                if entry.post >= 0, index.posts[Int(entry.post)].enqueued >= 0 { countEnqueued(record) }
                countMatches(entry, index)
            case .coalesce, .dequeue, .targetGone:
                if entry.observer < 0, entry.post >= 0, index.posts[Int(entry.post)].enqueued >= 0 { countEnqueued(record) }
            case .count where record.observer == nil:
                queueCounterRecord = position
            case .count:
                counterRecords.append((position, countsByObserver[record.observer] ?? ObserverCounts()))
            default: break
            }
            let pair = Int(index.deliveryOfEntry[number])
            guard pair >= 0, index.deliveries[pair].kind != .block else { continue }
            guard Self.isPosted(index.deliveries[pair], index) else {
                if entry.stage.isOutcome { unpostedOutcomes.append(position) }
                continue
            }
            if !isCounted[pair], index.deliveries[pair].skip < 0 {
                isCounted[pair] = true
                countsByObserver[record.observer, default: ObserverCounts()].posted += 1
            }
            count(record, Int32(number), of: index.deliveries[pair], index)
        }
        unresolved.sort { ($0.post, $0.observer ?? 0) < ($1.post, $1.observer ?? 0) }
    }

    /// True if the pair's post is recorded, and its observer was registered at that time. A scenario records from the
    /// beginning.
    private static func isPosted(_ pair: RecordingIndex.Delivery, _ index: RecordingIndex) -> Bool {
        let posted = index.posts[Int(pair.post)].posted
        guard posted >= 0, pair.observer >= 0 else { return posted >= 0 }
        let removed = index.observers[Int(pair.observer)].removed
        return index.observers[Int(pair.observer)].registered >= 0 && (removed < 0 || removed > posted)
    }

    /// Compares the number of observers that a post matched with the number that its records show.
    private mutating func countMatches(_ entry: Recording.Entry, _ index: RecordingIndex) {
        guard entry.post >= 0 else { return }
        let position = Int(entry.line) - 1
        let matches = Int(index.posts[Int(entry.post)].deliveryCount)
        if entry.count >= 0, matches > entry.count { unpostedOutcomes.append(position) }
        guard entry.count > matches else { return }
        let observers = index.couldHaveMatched(entry.post)
        for missing in 0..<(Int(entry.count) - matches) {
            let observer = missing < observers.count ? index.recording.observers[Int(observers[missing])].number : nil
            countsByObserver[observer, default: ObserverCounts()].posted += 1
            unresolved.append((position, observer))
        }
    }

    /// Counts a record of a post for an observer.
    private mutating func count(
        _ record: DeliveryRecord, _ entry: Int32, of pair: RecordingIndex.Delivery, _ index: RecordingIndex
    ) {
        let posted = index.posts[Int(pair.post)].posted
        let position = Int(index.entry(entry).line) - 1
        if entry == pair.secondOutcome { secondOutcomes.append(position) }
        if pair.isPending, entry == pair.append || pair.append < 0 && entry == posted {
            unresolved.append((Int(index.entry(posted).line) - 1, record.observer))
        }
        guard entry == pair.outcome else { return }
        countsByObserver[record.observer, default: ObserverCounts()][record.stage] += 1
        if record.stage != .deliver {
            otherOutcomes.append(position)
        } else {
            deliveredPairs.append((Int(index.entry(posted).line) - 1, position))
        }
    }

    private mutating func countEnqueued(_ record: DeliveryRecord) {
        enqueued.count(record.stage)
        enqueuedByName[record.notification, default: DeliveryCounters()].count(record.stage)
    }

    var posted: some RandomAccessCollection<DeliveryRecord> { posts.lazy.map { records[$0] } }

    var registered: some RandomAccessCollection<DeliveryRecord> { registrations.lazy.map { records[$0] } }

    /// In order of delivery.
    var delivered: some RandomAccessCollection<Delivery> {
        deliveredPairs.lazy.map { pair in
            let delivered = records[pair.delivery]
            return Delivery(
                posted: records[pair.post], delivered: delivered,
                registered: ranks[delivered.observer].map { records[registrations[$0]] })
        }
    }

    /// The counters of an observer.
    func counts(of observer: Int?) -> ObserverCounts { countsByObserver[observer] ?? ObserverCounts() }

    /// The counters of the notifications that were enqueued under a name.
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

    /// Expects that every post was delivered once to each observer, and that each delivery is correct.
    func expectEachDelivered(_ claim: String, where isCorrect: (Delivery) -> Bool = { _ in true }) -> Expectation {
        if let fault = faultInOutcomes { return Expectation(claim, failure: fault) }
        if let other = otherOutcomes.first.map({ records[$0] }) {
            return Expectation(claim, failure: "\(other.postNumber) has the outcome \(other.stage.rawValue)")
        }
        let wrong = delivered.first { !isCorrect($0) }
        return Expectation(
            claim, holds: wrong == nil,
            otherwise: wrong.map {
                "\($0.delivered.postNumber), posted on \($0.posted.thread), was handled on \($0.delivered.thread)"
            } ?? "")
    }

    /// Guarantee 14: each pair of a post and an observer has one outcome.
    func expectOneOutcomeEach(_ claim: String) -> Expectation {
        Expectation(claim, failure: faultInOutcomes)
    }

    /// Expects that each enqueued notification was posted, coalesced or dequeued, or that its thread ended: one of
    /// these, once.
    func expectOneOutcomeOfEachEnqueued(_ claim: String) -> Expectation {
        let wrong = outcomesOfEnqueued.filter { $0.value != 1 }.min { ($0.key ?? 0) < ($1.key ?? 0) }
        return Expectation(
            claim, holds: !outcomesOfEnqueued.isEmpty && wrong == nil,
            otherwise: wrong.map { "post \($0.key ?? 0) has \($0.value) outcomes" } ?? "nothing was enqueued")
    }

    /// Expects that the library's counters of the scenario's one posting queue agree with the records.
    func expectQueueCountsAgree(_ claim: String) -> Expectation {
        let counted = queueCounterRecord.flatMap { records[$0].counters }
        return Expectation(
            claim, holds: counted == enqueued,
            otherwise: "\(counted?.description ?? "nothing was counted"), but the records show: \(enqueued)")
    }

    private var faultInOutcomes: String? {
        if posted.isEmpty { return "nothing was posted" }
        if let lost = unresolved.first {
            let observer = lost.observer.map { " to observer \($0)" } ?? ""
            let all = countsByObserver.values.reduce(0) { $0 + $1.posted }
            return "\(unresolved.count) of \(all) posts have no outcome; the first is "
                + "\(records[lost.post].postNumber)\(observer)"
        }
        if let again = secondOutcomes.first {
            return "\(records[again].postNumber) has a second outcome: \(records[again].stage.rawValue)"
        }
        if let unposted = unpostedOutcomes.first {
            return "\(records[unposted].postNumber) has an outcome without having been posted for this observer"
        }
        return nil
    }

    /// Expects that the library's counters of each observer agree with the records.
    func expectCountsAgree(_ claim: String) -> Expectation {
        let wrong = counterRecords.first { records[$0.index].counters.map(ObserverCounts.init) != $0.recorded }
        return Expectation(
            claim, holds: !counterRecords.isEmpty && wrong == nil,
            otherwise: wrong.map { "\(records[$0.index].details ?? "nothing"), but the records show: \($0.recorded)" }
                ?? "nothing was counted")
    }

    /// Expects that the posts of one thread were delivered to each observer in the order of posting.
    func expectOrderKept(_ claim: String) -> Expectation {
        struct Route: Hashable {
            var thread: ThreadIdentity
            var observer: Int?
        }
        var last: [Route: DeliveryRecord] = [:]
        for delivery in delivered {
            let route = Route(thread: delivery.posted.thread, observer: delivery.delivered.observer)
            if let before = last[route], before.sequence > delivery.posted.sequence {
                return Expectation(
                    claim,
                    failure: "\(delivery.posted.postNumber) of \(delivery.posted.thread) was handled after its "
                        + "\(before.postNumber), which was posted later")
            }
            last[route] = delivery.posted
        }
        return Expectation(claim, holds: !deliveredPairs.isEmpty, otherwise: "nothing was delivered")
    }

    /// Expects that the observers that handle a post on the same thread were called in the order of their registration.
    func expectRegistrationOrder(_ claim: String) -> Expectation {
        struct Call: Hashable {
            var post: Int?
            var thread: ThreadIdentity
        }
        var last: [Call: Int] = [:]
        for (_, delivery) in deliveredPairs {
            let record = records[delivery]
            let call = Call(post: record.post, thread: record.thread)
            let rank = ranks[record.observer] ?? -1
            if let before = last[call], before >= rank {
                return Expectation(
                    claim,
                    failure: "observer \(record.observer ?? 0) handled \(record.postNumber) after one that was "
                        + "registered later")
            }
            last[call] = rank
        }
        return Expectation(claim, holds: !deliveredPairs.isEmpty, otherwise: "nothing was delivered")
    }
}

extension DeliveryCounters {
    /// Counts one record of a notification in a posting queue.
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
    /// Expects that the logged lines have the structure of a document's log.
    static func matches(_ reference: ReferenceLog, _ records: [DeliveryRecord]) -> Expectation {
        let claim = "the log has the structure of \(reference.rawValue)"
        let style = DocumentStyle()
        let text = records.compactMap { style.line(for: $0) }.map { $0 + "\n" }.joined()
        do throws(LogError) {
            let log = try TextLog(name: "the run", text: text)
            var options = RunComparison.Options()
            options.isExact = true
            let outcome = RunComparison(.log(try TextLog(reference)), .log(log), options: options).outcome
            if case .same = outcome { return Expectation(claim, failure: nil) }
            return Expectation(claim, failure: ComparisonReport(outcome, isLog: true).description)
        } catch {
            return Expectation(claim, failure: error.description)
        }
    }
}
