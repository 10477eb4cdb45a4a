/// The account of each observer, each posting queue and each performed block: how many posts it got, and what became of
/// them (guarantee 14). Statistics, rules and findings count with these.
///
///     matched = delivered + coalesced + dropped + cancelled + target gone + pending + lost
package struct Accounts: Sendable {
    package enum Table: Sendable {
        /// The posts of one name for one observer.
        case notifications
        /// The posts of one name that matched no observer.
        case unobserved
        /// The notifications of one name in the posting queues of a process. Those that were posted count as
        /// delivered, those that were dequeued as cancelled.
        case queues
        /// The performed blocks of a process.
        case blocks
    }

    /// Indices are those of the recording's tables. -1 means none, any name, or observers that cannot be told apart.
    package struct Account: Sendable {
        package let table: Table
        package let process: Int32
        package let name: Int32
        package let observer: Int32
        package fileprivate(set) var counts = Counts()
        /// The first record of the first delivery, or -1.
        package fileprivate(set) var first: Int32 = -1
        /// The first `drop`, or -1.
        package fileprivate(set) var firstDrop: Int32 = -1
    }

    private struct Key: Hashable {
        var table: Table
        var process: Int32
        var name: Int32
        var observer: Int32
    }

    /// In the order of their first registration or post.
    package private(set) var all: [Account] = []
    /// Pending deliveries that can no longer arrive, because the observer received something that the same thread
    /// handed over later (guarantee 4): indices of the index's deliveries.
    package private(set) var passedOver: Set<Int32> = []
    /// Posts that matched more or fewer observers than have records. The observers are those that are missing, if they
    /// are known.
    package private(set) var mismatched: [(post: Int32, missing: Int, observers: [Int32])] = []
    private var unfinishedCount = 0
    private var indices: [Key: Int] = [:]
    /// Consecutive deliveries often belong to the same account.
    private var last: (key: Key, account: Int)?

    /// Stands for an observer that could not be identified.
    package static let unknownObserver: Int32 = -2

    /// - Parameter includes: whether a record is counted: a registration, the outcome of a delivery, or the beginning
    ///   of one without an outcome, and a post's `post` or `enqueue`.
    package init(_ index: RecordingIndex, includes: (Int32) -> Bool = { _ in true }) {
        passedOver = Self.passedOver(index)
        for number in index.records(of: .register) where includes(number) {
            let entry = index.entry(number)
            let account = account(index.recording.process(of: entry), entry.name, entry.observer)
            if entry.observer >= 0, index.observers[Int(entry.observer)].registered == number {
                all[account].counts[.earlier] = index.observers[Int(entry.observer)].earlier
            }
        }
        for number in index.deliveries.indices {
            let delivery = index.deliveries[number]
            if includes(index.record(of: delivery)) {
                count(delivery, isLost: isLost(number, index), index)
            }
        }
        for number in index.posts.indices {
            if index.posts[number].posted >= 0, includes(index.posts[number].posted) { countPost(number, index) }
            if index.posts[number].enqueued >= 0, includes(index.posts[number].enqueued) { countInQueue(number, index) }
        }
    }

    /// True for a delivery that can no longer arrive, if no record is missing. It must not have an outcome.
    package func isLost(_ number: Int, _ index: RecordingIndex) -> Bool {
        let delivery = index.deliveries[number]
        return (passedOver.contains(Int32(number)) || index.targetHasEnded(delivery))
            && index.recording.completeness[index.process(ofPost: delivery.post)].isComplete
    }

    package func sum(_ table: Table, name: Int32? = nil) -> Counts {
        all.reduce(into: Counts()) { sum, account in
            if account.table == table, name ?? account.name == account.name { sum += account.counts }
        }
    }

    /// The accounts of each observer together, in the order of the index's observers.
    package func ofObservers(_ count: Int) -> [Account] {
        var sums = (0..<count).map { Account(table: .notifications, process: -1, name: -1, observer: Int32($0)) }
        for account in all where account.table == .notifications && account.observer >= 0 {
            let observer = Int(account.observer)
            sums[observer].counts += account.counts
            for (record, path) in [(account.first, \Account.first), (account.firstDrop, \Account.firstDrop)]
            where record >= 0 && (sums[observer][keyPath: path] < 0 || record < sums[observer][keyPath: path]) {
                sums[observer][keyPath: path] = record
            }
        }
        return sums
    }

    private mutating func account(
        _ process: Int, _ name: Int32, _ observer: Int32 = -1, in table: Table = .notifications
    ) -> Int {
        let key = Key(table: table, process: Int32(process), name: name, observer: observer)
        if let last, last.key == key { return last.account }
        let account = indices[key, default: all.count]
        if account == all.count {
            indices[key] = account
            all.append(Account(table: table, process: key.process, name: name, observer: observer))
        }
        last = (key, account)
        return account
    }

    private mutating func add(_ number: Int, _ count: Count, to account: Int) {
        all[account].counts[.matched] += number
        all[account].counts[count] += number
    }

    private mutating func count(_ delivery: RecordingIndex.Delivery, isLost: Bool, _ index: RecordingIndex) {
        let process = index.process(ofPost: delivery.post)
        let account =
            delivery.isBlock
            ? account(process, -1, in: .blocks) : account(process, index.name(of: delivery), delivery.observer)
        if all[account].first < 0 { all[account].first = delivery.first }
        guard delivery.skip < 0 || delivery.outcome >= 0 else {
            all[account].counts[.skipped] += 1
            return
        }
        guard delivery.outcome >= 0 else {
            return add(1, isLost ? .lost : .pending, to: account)
        }
        let outcome = index.entry(delivery.outcome)
        if outcome.stage == .drop, all[account].firstDrop < 0 { all[account].firstDrop = delivery.outcome }
        all[account].counts[.matched] += 1
        all[account].counts.count(outcome.stage)
    }

    /// Compares the number of observers that a post matched with the number that has records.
    private mutating func countPost(_ number: Int, _ index: RecordingIndex) {
        let post = index.posts[number]
        let (entry, process) = (index.entry(post.posted), index.process(ofPost: Int32(number)))
        let isComplete = index.recording.completeness[process].isComplete
        let missing = Int(entry.count) - Int(post.deliveryCount)
        if entry.count == 0, missing == 0 {
            all[account(process, entry.name, in: .unobserved)].counts[.matched] += 1
        } else if entry.count >= 0, missing != 0, post.returned < 0 {
            let last = index.threads[Int(entry.thread)].last
            if missing > 0, isComplete, post.isUnfinished || last >= 0 && index.entry(last).post == number {
                // The program ended while it was posting.
                return add(missing, .pending, to: account(process, entry.name, Self.unknownObserver))
            }
            // The observers that missed the post are known if exactly as many could have matched it. The search looks
            // at every observer, so it is limited.
            let isCheap = missing > 0 && mismatched.count * index.observers.count < 1_000_000
            var observers = isCheap ? index.couldHaveMatched(Int32(number)) : []
            if observers.count != missing { observers = [] }
            mismatched.append((Int32(number), missing, observers))
            guard missing > 0, isComplete else { return }
            for observer in observers { add(1, .lost, to: account(process, entry.name, observer)) }
            if observers.isEmpty { add(missing, .lost, to: account(process, entry.name, Self.unknownObserver)) }
        } else if entry.isFoundation, post.isUnfinished, isComplete {
            // Foundation's center counts the observers when the post returns.
            let isCheap = unfinishedCount * index.observers.count < 1_000_000
            unfinishedCount += 1
            for observer in isCheap ? index.couldHaveMatched(Int32(number)) : [Self.unknownObserver] {
                add(1, .pending, to: account(process, entry.name, observer))
            }
        }
    }

    private mutating func countInQueue(_ number: Int, _ index: RecordingIndex) {
        let post = index.posts[number]
        let account = account(
            index.process(ofPost: Int32(number)), index.entry(post.enqueued).name, in: .queues)
        let outcome = post.queueOutcome < 0 ? .pending : Count(index.entry(post.queueOutcome).stage)
        add(1, outcome ?? .targetGone, to: account)
    }

    private static func passedOver(_ index: RecordingIndex) -> Set<Int32> {
        var passedOver: Set<Int32> = []
        guard index.deliveries.contains(where: { $0.isPending && !$0.isBlock }) else { return passedOver }
        /// Observers that received something later, with the thread that handed it over.
        var later: Set<UInt64> = []
        var lastLater: UInt64?
        for (number, delivery) in index.deliveries.enumerated().reversed()
        where !delivery.isBlock && delivery.append >= 0 {
            let way = RecordingIndex.key(index.entry(delivery.append).thread, delivery.observer)
            if delivery.isPending {
                if later.contains(way), !index.targetHasEnded(delivery) { passedOver.insert(Int32(number)) }
            } else if way != lastLater, delivery.outcome > delivery.append {
                let outcome = index.entry(delivery.outcome)
                guard outcome.stage == .deliver, !outcome.overtakes else { continue }
                later.insert(way)
                lastLater = way
            }
        }
        return passedOver
    }
}

extension Accounts {
    /// A post matches an observer once; except `skipped` and `earlier`, the others add up to `matched`.
    package enum Count: Int, Sendable, CaseIterable {
        /// Posts that matched the observer and were not skipped. Of blocks and posting queues: all that were enqueued.
        case matched
        case delivered
        case coalesced
        case dropped
        case cancelled
        case targetGone
        case pending
        /// Posts without a record of their outcome.
        case lost
        case skipped
        /// Outcomes of posts from before the recording.
        case earlier

        package var words: String { self == .targetGone ? "target gone" : "\(self)" }

        /// The count of an outcome, also of one in a posting queue; nil if the stage is none.
        package init?(_ outcome: DeliveryStage) {
            switch outcome {
            case .deliver, .post: self = .delivered
            case .coalesce: self = .coalesced
            case .drop: self = .dropped
            case .cancel, .dequeue: self = .cancelled
            case .targetGone: self = .targetGone
            default: return nil
            }
        }
    }

    /// A number for each `Count`.
    package struct Counts: Sendable, Hashable {
        private var values = SIMD16<Int>()

        package init() {}

        package subscript(_ count: Count) -> Int {
            get { values[count.rawValue] }
            set { values[count.rawValue] = newValue }
        }

        package mutating func count(_ outcome: DeliveryStage) {
            if let count = Count(outcome) { self[count] += 1 }
        }

        /// For example `3 delivered, 1 dropped`: those of some counts that are not 0.
        package func words(of counts: [Count] = Count.allCases, called own: [Count: String] = [:]) -> String {
            counts.filter { self[$0] > 0 }.map { "\(self[$0]) \(own[$0] ?? $0.words)" }.joined(separator: ", ")
        }

        package static func += (sum: inout Counts, other: Counts) { sum.values &+= other.values }
    }
}
