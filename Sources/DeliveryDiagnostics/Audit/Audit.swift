package import DeliveryRecording
internal import ThreadedNotifications

/// Accounts for each post and each observer that it matched (guarantee 14).
///
///     posted = delivered + coalesced + dropped + cancelled + target gone + pending
///
/// If the recording of a process is truncated, a missing record is reported as unknown, not as a loss.
/// Cost: a few passes over the index.
package struct Audit: Sendable {
    /// Counters for the posts of one name and one observer.
    struct Line: Sendable {
        /// Index in the recording's tables. -1 means none, any name, or observers that cannot be told apart.
        var process: Int32
        var name: Int32
        var observer: Int32
        var counts = AuditCounters()
        /// The overflow policies that dropped notifications, as far as the records name them.
        var policies: Set<String> = []
        /// The threads that ran its handlers.
        var threads: Set<Int32> = []
        fileprivate var lastThread: Int32 = -1
    }

    /// Counters for the notifications that were enqueued in the posting queues of a process: those that were posted
    /// count as delivered, and those that were dequeued as cancelled.
    struct QueueLine: Sendable {
        var process: Int32
        var name: Int32
        var counters = DeliveryCounters()
    }

    /// Posts of a name that no observer matched.
    struct Unobserved: Sendable {
        var process: Int32
        var name: Int32
        var count = 0
        /// The first `post`.
        var first: Int32
    }

    let index: RecordingIndex
    /// In the order of their first post or registration.
    private(set) var lines: [Line] = []
    private(set) var queues: [QueueLine] = []
    /// In the order of their first post.
    private(set) var unobserved: [Unobserved] = []
    /// Performed blocks: one line for each process that performed any.
    private(set) var blocks: [Line] = []
    /// Inconsistencies that are certain.
    private(set) var faults = AuditFaults()
    /// Inconsistencies that may only be due to a truncated recording.
    private(set) var unknown = AuditFaults()
    /// Indices of `lines`, `blocks`, `queues` and `unobserved`.
    private var indices: [Key: Int] = [:]
    /// The line of the last delivery. Consecutive deliveries often belong to the same line.
    private var last: (key: Key, line: Int)?
    private let words: RecordWords
    private let isSelectedPost: [Bool]?

    /// Stands for an observer that could not be identified.
    static let unknownObserver: Int32 = -2

    private struct Key: Hashable {
        enum Table { case lines, blocks, queues, unobserved }
        var table: Table
        var process: Int32
        var name: Int32 = -1
        var observer: Int32 = -1
    }

    /// True if the audit found no certain inconsistency.
    package var addsUp: Bool { faults.count == 0 }

    /// True if the recordings of all processes are complete.
    var isComplete: Bool { recording.completeness.allSatisfy(\.isComplete) }

    var recording: Recording { index.recording }

    package init(_ recording: Recording, selection: RecordingSelection? = nil) {
        self.init(RecordingIndex(recording), selection: selection)
    }

    /// - Parameter selection: the posts to account for; all, if it is nil.
    package init(_ index: RecordingIndex, selection: RecordingSelection? = nil) {
        self.index = index
        words = RecordWords(index)
        isSelectedPost = selection?.posts(of: index.recording)
        countRegistrations(selection)
        countDeliveries()
        countPosts()
        countQueues()
        checkStrays()
        if isSelectedPost == nil { checkLibraryCounters() }
    }

    private func isSelected(_ post: Int) -> Bool { isSelectedPost.map { $0[post] } ?? true }

    /// Adds a fault to `faults`, or to `unknown` if missing records could explain it.
    private mutating func note(
        _ kind: AuditFault.Kind, process: Int, post: Int32 = -1, entry: Int32 = -1, _ text: (RecordWords) -> String
    ) {
        let words = words
        if recording.completeness[process].isComplete || kind.isCertainIfTruncated {
            faults.note(kind, post: post, entry: entry) { text(words) }
        } else {
            unknown.note(kind, post: post, entry: entry) { text(words) }
        }
    }

    // MARK: Counting

    private mutating func line(_ process: Int, _ name: Int32, _ observer: Int32) -> Int {
        let key = Key(table: .lines, process: Int32(process), name: name, observer: observer)
        if let last, last.key == key { return last.line }
        let line = number(key, of: lines.count)
        if line == lines.count { lines.append(Line(process: key.process, name: name, observer: observer)) }
        last = (key, line)
        return line
    }

    /// The number of a line in its table; `count` if it is new.
    private mutating func number(_ key: Key, of count: Int) -> Int {
        if let known = indices[key] { return known }
        indices[key] = count
        return count
    }

    private mutating func countRegistrations(_ selection: RecordingSelection?) {
        for (number, entry) in recording.entries.enumerated() where entry.stage == .register {
            guard selection?.contains(entry) ?? true else { continue }
            let line = line(recording.process(of: entry), entry.name, entry.observer)
            if entry.observer >= 0, words.registered(entry.observer) == Int32(number) {
                lines[line].counts.earlier = index.observers[Int(entry.observer)].earlier
            }
        }
    }

    private mutating func countDeliveries() {
        let passedOver = passedOver()
        for (number, delivery) in index.deliveries.enumerated() where isSelected(Int(delivery.post)) {
            let process = index.process(ofPost: delivery.post)
            check(delivery, process)
            if delivery.kind == .block {
                let line = self.number(Key(table: .blocks, process: Int32(process)), of: blocks.count)
                if line == blocks.count { blocks.append(Line(process: Int32(process), name: -1, observer: -1)) }
                count(delivery, isPassedOver: false, process, in: &blocks[line])
                continue
            }
            let isPassedOver = passedOver.contains(Int32(number))
            let line = line(process, index.name(of: delivery), delivery.observer)
            count(delivery, isPassedOver: isPassedOver, process, in: &lines[line])
            guard isPassedOver else { continue }
            note(.lost, process: process, post: delivery.post, entry: delivery.append) { words in
                "\(words.post(delivery.post)) was handed over\(words.forObserver(delivery)) and never delivered, "
                    + "although a later notification of the same thread was"
            }
        }
    }

    private func count(_ delivery: RecordingIndex.Delivery, isPassedOver: Bool, _ process: Int, in line: inout Line) {
        if delivery.skip >= 0, delivery.outcome < 0 {
            line.counts.skipped += 1
            return
        }
        line.counts.posted += 1
        guard delivery.outcome >= 0 else {
            let isLost = isPassedOver || index.targetHasEnded(delivery)
            if isLost, recording.completeness[process].isComplete {
                line.counts.lost += 1
            } else {
                line.counts.pending += 1
            }
            return
        }
        let outcome = index.entry(delivery.outcome)
        line.counts.count(outcome.stage)
        if outcome.stage == .deliver, outcome.thread != line.lastThread {
            line.threads.insert(outcome.thread)
            line.lastThread = outcome.thread
        } else if outcome.policy != nil, let policy = recording.details(of: outcome) {
            line.policies.insert(policy)
        }
    }

    /// Deliveries that are still pending although the observer received something that the same thread handed over
    /// later. By guarantee 4 they can no longer arrive. Indices of the index's deliveries.
    private func passedOver() -> Set<Int32> {
        var passedOver: Set<Int32> = []
        /// Observers that received something later, with the thread that handed it over.
        var later: Set<UInt64> = []
        var lastLater: UInt64?
        for (number, delivery) in index.deliveries.enumerated().reversed()
        where delivery.kind == .observed && delivery.append >= 0 {
            let way =
                UInt64(UInt32(bitPattern: index.entry(delivery.append).thread)) << 32
                | UInt64(UInt32(bitPattern: delivery.observer))
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

    private mutating func check(_ delivery: RecordingIndex.Delivery, _ process: Int) {
        if delivery.secondOutcome >= 0 {
            note(.twoOutcomes, process: process, post: delivery.post, entry: delivery.secondOutcome) { words in
                "\(words.post(delivery.post)) has two outcomes\(words.forObserver(delivery)): "
                    + "\(words.record(delivery.outcome)), then \(words.record(delivery.secondOutcome))"
            }
        }
        if delivery.outcome >= 0, delivery.skip >= 0 {
            note(.outcomeAfterSkip, process: process, post: delivery.post, entry: delivery.outcome) { words in
                "\(words.post(delivery.post)) was skipped\(words.forObserver(delivery)) "
                    + "(\(words.record(delivery.skip))) but has an outcome: \(words.record(delivery.outcome))"
            }
        }
        if delivery.isPending, index.targetHasEnded(delivery) {
            let target = index.target(of: delivery)
            let end = index.threads[Int(target)].end
            note(.lostAtThreadEnd, process: process, post: delivery.post, entry: delivery.append) { words in
                "\(words.post(delivery.post)) was handed to \(words.thread(target))\(words.forObserver(delivery)); "
                    + "the thread ended (\(words.record(end))), and no outcome was recorded"
            }
        }
        guard delivery.kind != .block else { return }
        let posted = index.posts[Int(delivery.post)].posted
        if posted < 0 {
            note(.withoutPost, process: process, post: delivery.post, entry: delivery.first) { words in
                "\(words.post(delivery.post)) has a record\(words.forObserver(delivery)) "
                    + "(\(words.record(delivery.first))), but its post was not recorded"
            }
        } else if delivery.kind == .observed, delivery.append < 0, delivery.outcome >= 0,
            index.entry(delivery.outcome).stage == .deliver,
            index.entry(delivery.outcome).thread != index.entry(posted).thread
        {
            note(.notHandedOver, process: process, post: delivery.post, entry: delivery.outcome) { words in
                "\(words.post(delivery.post)) was delivered\(words.forObserver(delivery)) on another thread "
                    + "(\(words.record(delivery.outcome))), but no append was recorded"
            }
        }
    }

    /// Compares the number of observers that each post matched with the number that has records.
    private mutating func countPosts() {
        for (number, post) in index.posts.enumerated() where post.posted >= 0 && isSelected(number) {
            let (entry, process) = (index.entry(post.posted), index.process(ofPost: Int32(number)))
            if entry.count == 0, post.deliveryCount == 0 {
                let key = Key(table: .unobserved, process: Int32(process), name: entry.name)
                let line = self.number(key, of: unobserved.count)
                if line == unobserved.count {
                    unobserved.append(Unobserved(process: key.process, name: key.name, first: post.posted))
                }
                unobserved[line].count += 1
            } else if entry.count >= 0, entry.count != post.deliveryCount {
                checkMatches(Int32(number), post, Int(entry.count) - Int(post.deliveryCount), process)
            }
        }
    }

    /// - Parameter missing: the number of matched observers without records; negative if there are too many.
    private mutating func checkMatches(_ number: Int32, _ post: RecordingIndex.Post, _ missing: Int, _ process: Int) {
        let entry = index.entry(post.posted)
        func matched(_ words: RecordWords) -> String {
            "\(words.post(number)) matched \(counted(Int(entry.count), "observer")), but"
        }
        guard missing > 0 else {
            return note(.tooMany, process: process, post: number, entry: post.posted) { words in
                "\(matched(words)) \(post.deliveryCount) have records"
            }
        }
        let isComplete = recording.completeness[process].isComplete
        if isComplete, post.isUnfinished {
            // The program ended while it was posting.
            let line = line(process, entry.name, Self.unknownObserver)
            lines[line].counts += AuditCounters(posted: missing, pending: missing)
            return
        }
        // The observers that missed the post are known if exactly as many observers could have matched it. The search
        // looks at every observer, so it is limited.
        var candidates = faults.count + unknown.count < 10_000 ? index.couldHaveMatched(number) : []
        if candidates.count != missing { candidates = [] }
        if isComplete {
            for observer in candidates.isEmpty ? [Self.unknownObserver] : candidates {
                let count = candidates.isEmpty ? missing : 1
                let line = line(process, entry.name, observer)
                lines[line].counts += AuditCounters(posted: count, lost: count)
            }
        }
        note(.lost, process: process, post: number, entry: post.posted) { words in
            let missed = candidates.map { words.recording.describeObserver($0) }.joined(separator: " and ")
            let recorded =
                post.deliveryCount == 0
                ? "none has" : post.deliveryCount == 1 ? "only 1 has" : "only \(post.deliveryCount) have"
            return "\(matched(words)) \(recorded) records" + (missed.isEmpty ? "" : ": none for \(missed)")
        }
    }

    private mutating func countQueues() {
        for (number, post) in index.posts.enumerated() where post.enqueued >= 0 && isSelected(number) {
            let process = index.process(ofPost: Int32(number))
            let key = Key(table: .queues, process: Int32(process), name: index.entry(post.enqueued).name)
            let line = self.number(key, of: queues.count)
            if line == queues.count { queues.append(QueueLine(process: key.process, name: key.name)) }
            guard post.queueOutcome >= 0 else {
                queues[line].counters.waiting += 1
                continue
            }
            switch index.entry(post.queueOutcome).stage {
            case .post: queues[line].counters.delivered += 1
            case .coalesce: queues[line].counters.coalesced += 1
            case .dequeue: queues[line].counters.cancelled += 1
            default: queues[line].counters.targetGone += 1
            }
            guard post.secondQueueOutcome >= 0 else { continue }
            note(.twoOutcomes, process: process, post: Int32(number), entry: post.secondQueueOutcome) { words in
                "\(words.post(Int32(number))) has two outcomes in its posting queue: "
                    + "\(words.record(post.queueOutcome)), then \(words.record(post.secondQueueOutcome))"
            }
        }
    }

    private mutating func checkStrays() {
        for number in index.strayReturns where isSelected(Int(index.entry(number).post)) {
            let entry = index.entry(number)
            note(.returnWithoutDeliver, process: recording.process(of: entry), post: entry.post, entry: number) {
                words in
                "a handler returned, but its call was not recorded: \(words.record(number))"
            }
        }
        for number in index.strayQueueOutcomes where isSelected(Int(index.entry(number).post)) {
            let entry = index.entry(number)
            note(.withoutPost, process: recording.process(of: entry), post: entry.post, entry: number) { words in
                "\(words.post(entry.post)) left a posting queue (\(words.record(number))), but its enqueue was not "
                    + "recorded"
            }
        }
    }

    // MARK: The library's counters

    private mutating func checkLibraryCounters() {
        /// For each observer, the last count, and the record before it on the same thread. The library counted between
        /// these two.
        var counted: [Int32: (entry: Int32, since: Int32)] = [:]
        /// For each process, the last count of a posting queue.
        var ofQueues: [Int: Int32] = [:]
        var last: [Int32] = Array(repeating: -1, count: recording.threads.count)
        for (number, entry) in recording.entries.enumerated() {
            if entry.counters < 0 {
                last[Int(entry.thread)] = Int32(number)
            } else if entry.observer >= 0 {
                counted[entry.observer] = (Int32(number), last[Int(entry.thread)])
            } else {
                ofQueues[recording.process(of: entry)] = Int32(number)
            }
        }
        if !counted.isEmpty { checkObserverCounters(counted) }
        for (process, number) in ofQueues.sorted(by: { $0.key < $1.key }) { checkQueueCounters(process, number) }
    }

    /// A count must be at least the number of records before it, and at most the number of all records.
    private mutating func checkObserverCounters(_ counted: [Int32: (entry: Int32, since: Int32)]) {
        var bounds: [Int32: (least: AuditCounters, most: AuditCounters)] = [:]
        for delivery in index.deliveries where delivery.skip < 0 {
            guard delivery.observer >= 0, let since = counted[delivery.observer]?.since else { continue }
            var bound = bounds[delivery.observer] ?? (AuditCounters(), AuditCounters())
            bound.most.posted += 1
            if delivery.first <= since { bound.least.posted += 1 }
            if delivery.outcome >= 0 { bound.most.count(index.entry(delivery.outcome).stage) }
            if delivery.outcome >= 0, delivery.outcome <= since {
                bound.least.count(index.entry(delivery.outcome).stage)
            }
            bounds[delivery.observer] = bound
        }
        for (observer, count) in counted.sorted(by: { $0.key < $1.key }) {
            let entry = index.entry(count.entry)
            // The library also counts what was handed over before the recording began.
            guard let counters = recording.counters(of: entry), index.observers[Int(observer)].earlier == 0 else {
                continue
            }
            let (least, most) = bounds[observer] ?? (AuditCounters(), AuditCounters())
            let library = AuditCounters(counters)
            let differing = AuditCounters.all.filter { _, counter in
                library[keyPath: counter] < least[keyPath: counter]
                    || library[keyPath: counter] > most[keyPath: counter]
            }
            guard !differing.isEmpty else { continue }
            note(.miscounted, process: recording.process(of: entry), entry: count.entry) { words in
                "the library's counters for \(words.recording.describeObserver(observer)) "
                    + "(\(words.record(count.entry))) differ from the records: "
                    + differing.map {
                        "\($0.name) \(library[keyPath: $0.counter]), recorded \(most[keyPath: $0.counter])"
                    }
                    .joined(separator: "; ")
            }
        }
    }

    /// Records do not say which queue a count belongs to, so a count is checked against the sum of all queues.
    private mutating func checkQueueCounters(_ process: Int, _ number: Int32) {
        var sum = DeliveryCounters()
        for line in queues where Int(line.process) == process {
            for outcome in DeliveryOutcome.allCases { sum[outcome] += line.counters[outcome] }
        }
        guard let counters = recording.counters(of: index.entry(number)), counters.total >= sum.total else { return }
        let differing = DeliveryOutcome.allCases.filter { $0 != .waiting && counters[$0] > sum[$0] }
        guard !differing.isEmpty || counters.total > sum.total else { return }
        note(.miscounted, process: process, entry: number) { words in
            "the library's counters for a posting queue (\(words.record(number))) differ from the records: "
                + "\(counters), recorded \(sum)"
        }
    }
}

extension RecordingIndex {
    /// The observers that were registered for the post's name when it was posted, and have no record for this post.
    /// Looks at every observer.
    package func couldHaveMatched(_ post: Int32) -> [Int32] {
        let posted = posts[Int(post)].posted
        let entry = entry(posted)
        return observers.indices.map { Int32($0) }.filter { number in
            let observer = observers[Int(number)]
            guard let registration = registration(of: number), observer.registered < posted else { return false }
            return recording.observers[Int(number)].process == Int32(recording.process(of: entry))
                && (observer.removed < 0 || observer.removed > posted)
                && (registration.name < 0 || registration.name == entry.name)
                && (registration.sender < 0 || entry.sender < 0 || registration.sender == entry.sender)
                && !hasDelivery(ofPost: post, to: number)
        }
    }
}
