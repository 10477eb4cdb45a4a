package import DeliveryRecording
internal import ThreadedNotifications

/// Accounts for each post and each observer that it matched (guarantee 14).
///
///     matched = delivered + coalesced + dropped + cancelled + target gone + pending
///
/// If the recording of a process is truncated, a missing record is reported as unknown, not as a loss.
/// Cost: a few passes over the index.
package struct Audit: Sendable {
    /// The kinds of lines. The raw values are keys of the JSON document.
    enum Table: String, CaseIterable {
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

    struct Line: Sendable {
        let table: Table
        /// Index in the recording's tables. -1 means none, any name, or observers that cannot be told apart.
        let process: Int32
        let name: Int32
        let observer: Int32
        var counts = AuditCounters()
        /// For `unobserved`: the first post, as an index of the recording's posts.
        var firstPost: Int32 = -1
        /// The overflow policies that dropped notifications, as far as the records name them.
        var policies: Set<String> = []
        var threads: Set<Int32> = []
        fileprivate var lastThread: Int32 = -1
    }

    let index: RecordingIndex
    /// In the order of their first post or registration.
    private(set) var lines: [Line] = []
    /// The number of posts, with those that no observer matched.
    private(set) var postCount = 0
    /// Inconsistencies that are certain.
    private(set) var faults = AuditFaults()
    /// Inconsistencies that may only be due to a truncated recording.
    private(set) var unknown = AuditFaults()
    /// Posts to Foundation's centers that had not returned at the end, with the observers that they had not reached.
    private(set) var unfinished: [(post: Int32, observer: Int32)] = []
    private let isSelectedPost: [Bool]?
    private var indices: [Key: Int] = [:]
    /// The line of the last delivery. Consecutive deliveries often belong to the same line.
    private var last: (key: Key, line: Int)?

    /// Stands for an observer that could not be identified.
    static let unknownObserver: Int32 = -2

    private struct Key: Hashable {
        var table: Table
        var process: Int32
        var name: Int32
        var observer: Int32
    }

    /// True if the audit found no certain inconsistency.
    package var addsUp: Bool { faults.count == 0 }

    /// The number of notifications and blocks without an outcome when the recording ended, in processes whose recording
    /// is complete.
    var waitingCount: Int {
        lines.reduce(0) { count, line in
            let isComplete = index.recording.completeness[Int(line.process)].isComplete
            return count + (isComplete ? line.counts[.pending] : 0)
        }
    }

    /// True if the audit found no certain inconsistency, and everything has an outcome.
    package var isSettled: Bool { addsUp && waitingCount == 0 }

    var isComplete: Bool { index.recording.completeness.allSatisfy(\.isComplete) }

    func lines(_ table: Table) -> [Line] { lines.filter { $0.table == table } }

    func sum(_ table: Table) -> AuditCounters { lines(table).reduce(into: AuditCounters()) { $0 += $1.counts } }

    /// - Parameter selection: the posts to account for; all, if it is nil.
    package init(_ index: RecordingIndex, selection: RecordingSelection? = nil) {
        self.index = index
        isSelectedPost = selection?.posts(of: index.recording)
        // Passed on, because each use of the property in a mutating method may copy the index.
        countRegistrations(index, selection)
        countDeliveries(index)
        countPosts(index)
        countQueues(index)
        checkStrays(index)
        if isSelectedPost == nil { checkLibraryCounters(index) }
    }

    private func isSelected(_ post: Int) -> Bool { isSelectedPost.map { $0[post] } ?? true }

    /// Adds a fault to `faults`, or to `unknown` if missing records could explain it.
    /// The entry shows the fault, and the text says what its post has.
    private mutating func note(_ kind: AuditFault.Kind, _ number: Int32, _ text: (RecordWords) -> String) {
        let (words, entry) = (RecordWords(index), index.entry(number))
        let isCertain =
            kind.isCertainIfTruncated || index.recording.completeness[index.recording.process(of: entry)].isComplete
        let fault = {
            AuditFault(
                kind: kind, entry: number,
                text: (entry.post < 0 ? "" : "\(words.post(entry.post)) ") + text(words))
        }
        if isCertain { faults.note(kind, fault) } else { unknown.note(kind, fault) }
    }

    // MARK: Counting

    private mutating func line(
        _ process: Int, _ name: Int32, _ observer: Int32 = -1, in table: Table = .notifications
    ) -> Int {
        let key = Key(table: table, process: Int32(process), name: name, observer: observer)
        if let last, last.key == key { return last.line }
        let line = indices[key, default: lines.count]
        if line == lines.count {
            indices[key] = line
            lines.append(Line(table: table, process: key.process, name: name, observer: observer))
        }
        last = (key, line)
        return line
    }

    private mutating func countRegistrations(_ index: RecordingIndex, _ selection: RecordingSelection?) {
        for (number, entry) in index.recording.entries.enumerated()
        where entry.stage == .register && selection?.contains(entry) ?? true {
            let line = line(index.recording.process(of: entry), entry.name, entry.observer)
            if entry.observer >= 0, index.observers[Int(entry.observer)].registered == Int32(number) {
                lines[line].counts[.earlier] = index.observers[Int(entry.observer)].earlier
            }
        }
    }

    private mutating func countDeliveries(_ index: RecordingIndex) {
        let passedOver = Self.passedOver(index)
        for number in index.deliveries.indices {
            let delivery = index.deliveries[number]
            guard isSelectedPost == nil || isSelected(Int(delivery.post)) else { continue }
            let process = index.process(ofPost: delivery.post)
            check(delivery, index)
            let line =
                delivery.kind == .block
                ? line(process, -1, in: .blocks) : line(process, index.name(of: delivery), delivery.observer)
            let isPassedOver = passedOver.contains(Int32(number))
            count(delivery, isPassedOver: isPassedOver, process, line, index)
            guard isPassedOver else { continue }
            note(.lost, delivery.append) { words in
                "was handed over\(words.forObserver(delivery)) and never delivered, "
                    + "although a later notification of the same thread was"
            }
        }
    }

    private mutating func count(
        _ delivery: RecordingIndex.Delivery, isPassedOver: Bool, _ process: Int, _ line: Int, _ index: RecordingIndex
    ) {
        guard delivery.skip < 0 || delivery.outcome >= 0 else {
            lines[line].counts[.skipped] += 1
            return
        }
        lines[line].counts[.matched] += 1
        guard delivery.outcome >= 0 else {
            let isLost = isPassedOver || index.targetHasEnded(delivery)
            let isCertain = isLost && index.recording.completeness[process].isComplete
            lines[line].counts[isCertain ? .lost : .pending] += 1
            return
        }
        let outcome = index.entry(delivery.outcome)
        lines[line].counts.count(outcome.stage)
        if outcome.stage == .deliver, outcome.thread != lines[line].lastThread {
            lines[line].threads.insert(outcome.thread)
            lines[line].lastThread = outcome.thread
        } else if outcome.policy != nil, let policy = index.recording.details(of: outcome) {
            lines[line].policies.insert(policy)
        }
    }

    /// Deliveries that are still pending although the observer received something that the same thread handed over
    /// later. By guarantee 4 they can no longer arrive. Indices of the index's deliveries.
    private static func passedOver(_ index: RecordingIndex) -> Set<Int32> {
        var passedOver: Set<Int32> = []
        guard index.deliveries.contains(where: { $0.isPending && $0.kind == .observed }) else { return passedOver }
        /// Observers that received something later, with the thread that handed it over.
        var later: Set<UInt64> = []
        var lastLater: UInt64?
        for (number, delivery) in index.deliveries.enumerated().reversed()
        where delivery.kind == .observed && delivery.append >= 0 {
            let way = indexPair(index.entry(delivery.append).thread, delivery.observer)
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

    private mutating func check(_ delivery: RecordingIndex.Delivery, _ index: RecordingIndex) {
        if delivery.secondOutcome >= 0 {
            note(.twoOutcomes, delivery.secondOutcome) { words in
                "has two outcomes\(words.forObserver(delivery)): "
                    + "\(words.record(delivery.outcome)), then \(words.record(delivery.secondOutcome))"
            }
        }
        if delivery.outcome >= 0, delivery.skip >= 0 {
            note(.outcomeAfterSkip, delivery.outcome) { words in
                "was skipped\(words.forObserver(delivery)) "
                    + "(\(words.record(delivery.skip))) but has an outcome: \(words.record(delivery.outcome))"
            }
        }
        if delivery.isPending, index.targetHasEnded(delivery) {
            let target = index.target(of: delivery)
            note(.lostAtThreadEnd, delivery.append) { words in
                "was handed to \(words.thread(target))\(words.forObserver(delivery)); "
                    + "the thread ended (\(words.record(words.index.threads[Int(target)].end))), and no outcome was "
                    + "recorded"
            }
        }
        guard delivery.kind != .block else { return }
        let posted = index.posts[Int(delivery.post)].posted
        if posted < 0 {
            note(.withoutPost, delivery.first) { words in
                "has a record\(words.forObserver(delivery)) "
                    + "(\(words.record(delivery.first))), but its post was not recorded"
            }
        } else if delivery.kind == .observed, delivery.append < 0, delivery.outcome >= 0,
            index.entry(delivery.outcome).stage == .deliver, !index.entry(delivery.outcome).isFoundation,
            index.entry(delivery.outcome).thread != index.entry(posted).thread
        {
            note(.notHandedOver, delivery.outcome) { words in
                "was delivered\(words.forObserver(delivery)) on another thread "
                    + "(\(words.record(delivery.outcome))), but no append was recorded"
            }
        }
    }

    /// Compares the number of observers that each post matched with the number that has records.
    private mutating func countPosts(_ index: RecordingIndex) {
        var cost = 0
        for number in index.posts.indices {
            let post = index.posts[number]
            guard post.posted >= 0, isSelected(number) else { continue }
            let (entry, process) = (index.entry(post.posted), index.process(ofPost: Int32(number)))
            // A notification that Foundation's center captured from a posting queue was counted when it was posted.
            if entry.stage == .post || entry.relatedPost < 0 && !index.recording.isThreadEnd(entry) { postCount += 1 }
            if entry.count == 0, post.deliveryCount == 0 {
                let line = line(process, entry.name, in: .unobserved)
                if lines[line].firstPost < 0 { lines[line].firstPost = Int32(number) }
                lines[line].counts[.matched] += 1
            } else if entry.count >= 0, entry.count != post.deliveryCount, post.returned < 0 {
                checkMatches(Int32(number), post, Int(entry.count) - Int(post.deliveryCount), process, index)
            } else if entry.isFoundation, post.isUnfinished, index.recording.completeness[process].isComplete {
                // Foundation's center counts the observers when the post returns. The search is limited as below.
                cost += index.observers.count
                let missed = cost < 1_000_000 ? index.couldHaveMatched(Int32(number)) : [Self.unknownObserver]
                for observer in missed {
                    add(1, .pending, to: line(process, entry.name, observer))
                    unfinished.append((Int32(number), observer))
                }
            }
        }
    }

    /// - Parameter missing: the number of matched observers without records; negative if there are too many.
    private mutating func checkMatches(
        _ number: Int32, _ post: RecordingIndex.Post, _ missing: Int, _ process: Int, _ index: RecordingIndex
    ) {
        let entry = index.entry(post.posted)
        let matched = "matched \(counted(Int(entry.count), "observer")), but"
        guard missing > 0 else {
            return note(.tooMany, post.posted) { words in
                "\(matched) \(post.deliveryCount) have records"
            }
        }
        let isComplete = index.recording.completeness[process].isComplete
        if isComplete, post.isUnfinished {
            // The program ended while it was posting.
            return add(missing, .pending, to: line(process, entry.name, Self.unknownObserver))
        }
        // The observers that missed the post are known if exactly as many observers could have matched it. The search
        // looks at every observer, so it is limited.
        let cost = (faults.count + unknown.count) * index.observers.count
        var candidates = cost < 1_000_000 ? index.couldHaveMatched(number) : []
        if candidates.count != missing { candidates = [] }
        if isComplete {
            for observer in candidates { add(1, .lost, to: line(process, entry.name, observer)) }
            if candidates.isEmpty { add(missing, .lost, to: line(process, entry.name, Self.unknownObserver)) }
        }
        note(.lost, post.posted) { words in
            let missed = candidates.map(words.recording.describeObserver).joined(separator: " and ")
            let recorded = post.deliveryCount == 0 ? "none" : "only \(post.deliveryCount)"
            return "\(matched) \(recorded) \(post.deliveryCount < 2 ? "has" : "have") records"
                + (missed.isEmpty ? "" : ": none for \(missed)")
        }
    }

    private mutating func add(_ number: Int, _ count: AuditCount, to line: Int) {
        lines[line].counts[.matched] += number
        lines[line].counts[count] += number
    }

    private mutating func countQueues(_ index: RecordingIndex) {
        for number in index.posts.indices where index.posts[number].enqueued >= 0 && isSelected(number) {
            let (post, process) = (index.posts[number], index.process(ofPost: Int32(number)))
            let line = line(process, index.entry(post.enqueued).name, in: .queues)
            let outcome = post.queueOutcome < 0 ? .pending : AuditCount(index.entry(post.queueOutcome).stage)
            add(1, outcome ?? .targetGone, to: line)
            guard post.secondQueueOutcome >= 0 else { continue }
            note(.twoOutcomes, post.secondQueueOutcome) { words in
                "has two outcomes in its posting queue: "
                    + "\(words.record(post.queueOutcome)), then \(words.record(post.secondQueueOutcome))"
            }
        }
    }

    private mutating func checkStrays(_ index: RecordingIndex) {
        for number in index.strayReturns + index.strayQueueOutcomes where isSelected(Int(index.entry(number).post)) {
            let entry = index.entry(number)
            note(entry.stage == .return ? .returnWithoutDeliver : .withoutPost, number) { words in
                entry.stage == .return
                    ? "lacks a record: a handler returned, but its call was not recorded: \(words.record(number))"
                    : "left a posting queue (\(words.record(number))), but its enqueue was not recorded"
            }
        }
    }

    // MARK: The library's counters

    /// Compares the library's last counters of each observer, and of each process's posting queues, with the records. A
    /// count must be at least the number of records before it, and at most the number of all records.
    private mutating func checkLibraryCounters(_ index: RecordingIndex) {
        let recording = index.recording
        guard !recording.counters.isEmpty else { return }
        /// By process and observer, which is -1 for posting queues: the last `count`.
        var counted: [UInt64: Int32] = [:]
        /// For each observer: the record before the last `count` on the same thread. The library counted between these.
        var since: [Int32] = Array(repeating: -1, count: recording.observers.count)
        var last: [Int32] = Array(repeating: -1, count: recording.threads.count)
        for (number, entry) in recording.entries.enumerated() {
            if entry.counters < 0 {
                last[Int(entry.thread)] = Int32(number)
            } else {
                counted[indexPair(Int32(recording.process(of: entry)), entry.observer)] = Int32(number)
                if entry.observer >= 0 { since[Int(entry.observer)] = last[Int(entry.thread)] }
            }
        }
        var least: [Int32: AuditCounters] = [:]
        for delivery in index.deliveries where delivery.skip < 0 && delivery.observer >= 0 {
            let since = since[Int(delivery.observer)]
            guard delivery.first <= since else { continue }
            least[delivery.observer, default: AuditCounters()][.matched] += 1
            guard delivery.outcome >= 0, delivery.outcome <= since else { continue }
            least[delivery.observer]?.count(index.entry(delivery.outcome).stage)
        }
        // Records do not say which queue a count belongs to, so a count is checked against the sum of all queues.
        let most = lines.reduce(into: [:]) { (most: inout [UInt64: AuditCounters], line) in
            guard line.table == .queues || line.table == .notifications && line.observer >= 0 else { return }
            most[indexPair(line.process, line.observer), default: AuditCounters()] += line.counts
        }
        for (key, number) in counted.sorted(by: { $0.value < $1.value }) {
            let observer = index.entry(number).observer
            // The library also counts what was handed over before the recording began.
            guard let counters = recording.counters(of: index.entry(number)),
                observer < 0 || index.observers[Int(observer)].earlier == 0
            else { continue }
            let (library, least, most) = (AuditCounters(counters), least[observer], most[key])
            let differing = AuditCount.allCases.filter {
                library[$0] < least?[$0] ?? 0 || library[$0] > most?[$0] ?? 0
            }
            guard !differing.isEmpty else { continue }
            note(.miscounted, number) { words in
                let subject = observer < 0 ? "a posting queue" : recording.describeObserver(observer)
                let counts = differing.map { "\($0.words) \(library[$0]), recorded \(most?[$0] ?? 0)" }
                return "the library's counters for \(subject) (\(words.record(number))) differ from the records: "
                    + counts.joined(separator: "; ")
            }
        }
    }
}

extension RecordingIndex {
    /// The observers that were registered for the post's name when it was posted, and have no record for this post.
    func couldHaveMatched(_ post: Int32) -> [Int32] {
        let posted = posts[Int(post)].posted
        let entry = entry(posted)
        let center = recording.foundationDetails(of: entry)?.center
        return observers.indices.map { Int32($0) }.filter { number in
            let observer = observers[Int(number)]
            guard let registration = registration(of: number), observer.registered < posted else { return false }
            return recording.observers[Int(number)].process == Int32(recording.process(of: entry))
                && (observer.removed < 0 || observer.removed > posted)
                && (registration.name < 0 || registration.name == entry.name)
                && (registration.sender < 0 || registration.sender == entry.sender
                    || entry.sender < 0 && !entry.isFoundation)
                && recording.foundationDetails(of: registration)?.center == center
                && !hasDelivery(ofPost: post, to: number)
        }
    }
}
