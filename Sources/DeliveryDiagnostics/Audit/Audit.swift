package import DeliveryRecording
internal import ThreadedNotifications

/// Accounts for each post and each observer that it matched (guarantee 14).
///
///     posted = delivered + coalesced + dropped + cancelled + target gone + pending
///
/// If the recording is truncated, a missing record is reported as unknown, not as a loss. A recording is truncated if
/// it does not say how it ended, if records were lost, or if its file is damaged.
/// Cost: a few passes over the records; a million records take about a second.
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
    }

    /// Counters for the notifications that were enqueued in the posting queues of a process.
    struct QueueLine: Sendable {
        var process: Int32
        var name: Int32
        var enqueued = 0
        var posted = 0
        var coalesced = 0
        var dequeued = 0
        var targetGone = 0
        var waiting = 0
    }

    let recording: Recording
    /// In the order of their first post or registration.
    private(set) var lines: [Line] = []
    private(set) var queues: [QueueLine] = []
    /// Performed blocks: one line for each process that performed any.
    private(set) var blocks: [Line] = []
    /// Inconsistencies that are certain.
    private(set) var faults = AuditFaults()
    /// Inconsistencies that may only be due to a truncated recording.
    private(set) var unknown = AuditFaults()
    /// For each process.
    let isComplete: [Bool]

    /// True if the audit found no certain inconsistency.
    package var addsUp: Bool { faults.count == 0 }

    package init(_ recording: Recording) {
        self.init(DeliveryIndex(recording))
    }

    init(_ index: DeliveryIndex) {
        recording = index.recording
        isComplete = index.isComplete
        var table = LineTable()
        countRegistrations(index, &table)
        countPairs(index, &table)
        countPosts(index, &table)
        lines = table.lines
        blocks = table.blocks
        countQueues(index)
        checkStrays(index)
        checkLibraryCounts(index)
    }

    /// Adds a fault to `faults`, or to `unknown` if missing records could explain it.
    private mutating func note(
        _ kind: AuditFault.Kind, process: Int, post: Int32 = -1, entryIndex: Int32 = -1,
        _ text: () -> String
    ) {
        if isComplete[process] || kind.isCertainIfTruncated {
            faults.note(kind, post: post, entryIndex: entryIndex, text)
        } else {
            unknown.note(kind, post: post, entryIndex: entryIndex, text)
        }
    }

    // MARK: Counting

    private mutating func countRegistrations(_ index: DeliveryIndex, _ table: inout LineTable) {
        for (entryIndex, entry) in recording.entries.enumerated() where entry.stage == .register {
            let process = Int32(recording.process(of: entry))
            let line = table.line(process, entry.name, entry.observer)
            if entry.observer >= 0, index.registered[Int(entry.observer)] == Int32(entryIndex) {
                table.lines[line].counts.earlier = Int(index.earlier[Int(entry.observer)])
            }
        }
    }

    private mutating func countPairs(_ index: DeliveryIndex, _ table: inout LineTable) {
        let passedOver = index.passedOver
        for (number, pair) in index.pairs.enumerated() {
            let process = index.process(ofPost: pair.post)
            let isPassedOver = passedOver.contains(Int32(number))
            var counts = AuditCounters()
            if pair.skip >= 0, pair.outcome < 0 {
                counts.skipped = 1
            } else {
                counts.posted = 1
                if pair.outcome >= 0 {
                    counts.count(index.entry(pair.outcome).stage)
                } else if index.targetHasEnded(pair) || isPassedOver {
                    if index.isComplete[process] { counts.lost = 1 } else { counts.pending = 1 }
                } else {
                    counts.pending = 1
                }
            }
            let line: Int
            if pair.kind == .block {
                line = table.block(Int32(process))
                table.blocks[line].counts += counts
            } else {
                line = table.line(Int32(process), index.name(of: pair), pair.observer)
                table.lines[line].counts += counts
            }
            if counts.dropped > 0, pair.kind != .block, let policy = recording.details(of: index.entry(pair.outcome)) {
                table.lines[line].policies.insert(policy)
            }
            check(pair, process, index)
            guard isPassedOver else { continue }
            let words = AuditWords(index: index)
            note(.lost, process: process, post: pair.post, entryIndex: pair.append) {
                "\(words.post(pair.post)) was handed over\(words.forObserver(pair)) and never delivered, although a "
                    + "later notification of the same thread was"
            }
        }
    }

    private mutating func check(_ pair: DeliveryIndex.Pair, _ process: Int, _ index: DeliveryIndex) {
        let words = AuditWords(index: index)
        if pair.secondOutcome >= 0 {
            note(.twoOutcomes, process: process, post: pair.post, entryIndex: pair.secondOutcome) {
                "\(words.post(pair.post)) has two outcomes\(words.forObserver(pair)): \(words.record(pair.outcome)), then "
                    + words.record(pair.secondOutcome)
            }
        }
        if pair.outcome >= 0, pair.skip >= 0 {
            note(.outcomeAfterSkip, process: process, post: pair.post, entryIndex: pair.outcome) {
                "\(words.post(pair.post)) was skipped for \(words.observer(pair)) (\(words.record(pair.skip))) but "
                    + "has an outcome: \(words.record(pair.outcome))"
            }
        }
        if pair.outcome < 0, pair.skip < 0, index.targetHasEnded(pair) {
            let target = index.target(of: pair)
            note(.lostAtThreadEnd, process: process, post: pair.post, entryIndex: pair.append) {
                "\(words.post(pair.post)) was handed to \(words.recording.describeThread(target))"
                    + "\(words.forObserver(pair)); the thread ended (\(words.record(index.threadEnd[Int(target)]))), "
                    + "and no outcome was recorded"
            }
        }
        guard pair.kind != .block else { return }
        let posted = index.posted[Int(pair.post)]
        let first = pair.append >= 0 ? pair.append : pair.outcome >= 0 ? pair.outcome : pair.skip
        if posted < 0 {
            note(.withoutPost, process: process, post: pair.post, entryIndex: first) {
                "\(words.post(pair.post)) has a record\(words.forObserver(pair)) (\(words.record(first))), but its "
                    + "post was not recorded"
            }
        } else if pair.kind == .observed, pair.append < 0, pair.outcome >= 0,
            index.entry(pair.outcome).stage == .deliver,
            index.entry(pair.outcome).thread != index.entry(posted).thread
        {
            note(.notHandedOver, process: process, post: pair.post, entryIndex: pair.outcome) {
                "\(words.post(pair.post)) was delivered\(words.forObserver(pair)) on another thread "
                    + "(\(words.record(pair.outcome))), but no append was recorded"
            }
        }
    }

    /// Compares the number of observers that each post matched with the number that has records.
    private mutating func countPosts(_ index: DeliveryIndex, _ table: inout LineTable) {
        let words = AuditWords(index: index)
        for post in recording.posts.indices {
            guard index.posted[post] >= 0 else { continue }
            let entry = index.entry(index.posted[post])
            guard entry.count >= 0, entry.count != index.matches[post] else { continue }
            let (process, post) = (index.process(ofPost: Int32(post)), Int32(post))
            let matches = index.matches[Int(post)]
            if entry.count < matches {
                note(.tooMany, process: process, post: post, entryIndex: index.posted[Int(post)]) {
                    "\(words.post(post)) matched \(words.observers(entry.count)), but \(matches) have records"
                }
                continue
            }
            let missing = Int(entry.count - matches)
            if isComplete[process], index.unfinished.contains(post) {
                // The program ended while it was posting.
                let line = table.line(Int32(process), entry.name, LineTable.unknownObserver)
                table.lines[line].counts += AuditCounters(posted: missing, pending: missing)
                continue
            }
            // The observers that missed the post are known if exactly as many observers could have matched it. The
            // search looks at every observer, so it is limited.
            let candidates = faults.count + unknown.count < 10_000 ? words.couldHaveMatched(post) : []
            if isComplete[process] {
                if candidates.count == missing {
                    for observer in candidates {
                        let line = table.line(Int32(process), entry.name, observer)
                        table.lines[line].counts += AuditCounters(posted: 1, lost: 1)
                    }
                } else {
                    let line = table.line(Int32(process), entry.name, LineTable.unknownObserver)
                    table.lines[line].counts += AuditCounters(posted: missing, lost: missing)
                }
            }
            note(.lost, process: process, post: post, entryIndex: index.posted[Int(post)]) {
                let missed =
                    candidates.count == missing
                    ? ": none for \(candidates.map { words.recording.describeObserver($0) }.joined(separator: " and "))"
                    : ""
                let recorded = matches == 0 ? "none has" : "only \(matches) \(matches == 1 ? "has" : "have")"
                return "\(words.post(post)) matched \(words.observers(entry.count)), but \(recorded) records\(missed)"
            }
        }
    }

    private mutating func countQueues(_ index: DeliveryIndex) {
        let words = AuditWords(index: index)
        var lineOfKey: [UInt64: Int] = [:]
        for post in recording.posts.indices where index.enqueued[post] >= 0 {
            let entry = index.entry(index.enqueued[post])
            let process = index.process(ofPost: Int32(post))
            let key = UInt64(process) << 32 | UInt64(UInt32(bitPattern: entry.name))
            let line = lineOfKey[key] ?? queues.count
            if line == queues.count {
                lineOfKey[key] = line
                queues.append(QueueLine(process: Int32(process), name: entry.name))
            }
            queues[line].enqueued += 1
            guard index.queueOutcomeCounts[post] > 0 else {
                queues[line].waiting += 1
                continue
            }
            switch index.entry(index.queueOutcome[post]).stage {
            case .post: queues[line].posted += 1
            case .coalesce: queues[line].coalesced += 1
            case .dequeue: queues[line].dequeued += 1
            default: queues[line].targetGone += 1
            }
            if index.queueOutcomeCounts[post] > 1 {
                note(.twoOutcomes, process: process, post: Int32(post), entryIndex: index.queueOutcome[post]) {
                    "\(words.post(Int32(post))) was enqueued once but has \(index.queueOutcomeCounts[post]) outcomes in its "
                        + "queue, the last: \(words.record(index.queueOutcome[post]))"
                }
            }
        }
    }

    private mutating func checkStrays(_ index: DeliveryIndex) {
        let words = AuditWords(index: index)
        for entryIndex in index.strayReturns {
            let entry = index.entry(entryIndex)
            note(.returnWithoutDeliver, process: recording.process(of: entry), post: entry.post, entryIndex: entryIndex)
            {
                "a handler returned, but its call was not recorded: \(words.record(entryIndex))"
            }
        }
        for entryIndex in index.strayQueueOutcomes {
            let entry = index.entry(entryIndex)
            note(.withoutPost, process: recording.process(of: entry), post: entry.post, entryIndex: entryIndex) {
                "\(words.post(entry.post)) left a posting queue (\(words.record(entryIndex))), but its enqueue was not "
                    + "recorded"
            }
        }
    }

    // MARK: The library's counts

    private mutating func checkLibraryCounts(_ index: DeliveryIndex) {
        /// For each observer, the last count, and the record before it on the same thread. The library counted between
        /// these two.
        var counted: [Int32: (entryIndex: Int32, since: Int32)] = [:]
        var queueCounts: [Int: [Int32]] = [:]
        var last: [Int32] = Array(repeating: -1, count: recording.threads.count)
        for (entryIndex, entry) in recording.entries.enumerated() {
            if entry.stage == .count, entry.counters >= 0 {
                if entry.observer >= 0 {
                    counted[entry.observer] = (Int32(entryIndex), last[Int(entry.thread)])
                } else {
                    queueCounts[recording.process(of: entry), default: []].append(Int32(entryIndex))
                }
            } else {
                last[Int(entry.thread)] = Int32(entryIndex)
            }
        }
        if !counted.isEmpty { checkCounts(of: counted, index) }
        for (process, entryIndices) in queueCounts.sorted(by: { $0.key < $1.key }) {
            checkQueueCounts(process, entryIndices, index)
        }
    }

    /// A count must be at least the number of records before it, and at most the number of all records.
    private mutating func checkCounts(of counted: [Int32: (entryIndex: Int32, since: Int32)], _ index: DeliveryIndex) {
        var least: [Int32: AuditCounters] = [:]
        var most: [Int32: AuditCounters] = [:]
        for pair in index.pairs where pair.observer >= 0 && pair.skip < 0 {
            guard let count = counted[pair.observer] else { continue }
            let first = pair.append >= 0 ? pair.append : pair.outcome
            var all = AuditCounters(posted: 1)
            if pair.outcome >= 0 { all.count(index.entry(pair.outcome).stage) }
            most[pair.observer, default: AuditCounters()] += all
            var before = AuditCounters(posted: first <= count.since ? 1 : 0)
            if pair.outcome >= 0, pair.outcome <= count.since { before.count(index.entry(pair.outcome).stage) }
            least[pair.observer, default: AuditCounters()] += before
        }
        let words = AuditWords(index: index)
        for (observer, count) in counted.sorted(by: { $0.key < $1.key }) {
            let entry = index.entry(count.entryIndex)
            guard let counters = recording.counters(of: entry) else { continue }
            let (least, most) = (least[observer] ?? AuditCounters(), most[observer] ?? AuditCounters())
            // The library also counts what was handed over before the recording began.
            guard index.earlier[Int(observer)] == 0 else { continue }
            let differing = AuditCounters.reportedCounters.filter { name, outcome in
                let value = counters[name]
                return value < least[keyPath: outcome] || value > most[keyPath: outcome]
            }
            guard !differing.isEmpty else { continue }
            note(.miscounted, process: recording.process(of: entry), entryIndex: count.entryIndex) {
                "the library's counters for \(words.recording.describeObserver(observer)) "
                    + "(\(words.record(count.entryIndex))) differ from the records: "
                    + differing.map { "\($0.name) \(counters[$0.name]), recorded \(most[keyPath: $0.outcome])" }
                    .joined(separator: "; ")
            }
        }
    }

    /// Records do not say which queue a count belongs to, so a count is checked against the sum of all queues.
    private mutating func checkQueueCounts(_ process: Int, _ entryIndices: [Int32], _ index: DeliveryIndex) {
        var sum = QueueLine(process: Int32(process), name: -1)
        for line in queues where Int(line.process) == process {
            sum.enqueued += line.enqueued
            sum.posted += line.posted
            sum.coalesced += line.coalesced
            sum.dequeued += line.dequeued
            sum.targetGone += line.targetGone
        }
        let words = AuditWords(index: index)
        guard let entryIndex = entryIndices.last, let counters = recording.counters(of: index.entry(entryIndex)),
            counters.total >= sum.enqueued
        else { return }
        let differing = [
            ("enqueued", counters.total, sum.enqueued), ("posted", counters.delivered, sum.posted),
            ("coalesced", counters.coalesced, sum.coalesced), ("dequeued", counters.cancelled, sum.dequeued),
            ("target gone", counters.targetGone, sum.targetGone),
        ].filter { $0.1 > $0.2 }
        guard !differing.isEmpty else { return }
        note(.miscounted, process: process, entryIndex: entryIndex) {
            "the library's counters for a posting queue (\(words.record(entryIndex))) differ from the records: "
                + differing.map { "\($0.0) \($0.1), recorded \($0.2)" }.joined(separator: "; ")
        }
    }
}

extension DeliveryCounters {
    /// The counter that the audit calls by a name.
    fileprivate subscript(name: String) -> Int {
        switch name {
        case "posted": total
        case "delivered": delivered
        case "coalesced": coalesced
        case "dropped": dropped + refused
        case "cancelled": cancelled
        default: targetGone
        }
    }
}

extension AuditCounters {
    /// The counters that the library reports, with their names in messages.
    fileprivate static var reportedCounters: [(name: String, outcome: KeyPath<AuditCounters, Int>)] {
        [
            ("posted", \.posted), ("delivered", \.delivered), ("coalesced", \.coalesced), ("dropped", \.dropped),
            ("cancelled", \.cancelled), ("target gone", \.targetGone),
        ]
    }
}

/// Lines of an audit, by name and observer.
struct LineTable {
    /// Stands for an observer that could not be identified.
    static let unknownObserver: Int32 = -2

    private struct Key: Hashable {
        var process: Int32
        var name: Int32
        var observer: Int32
    }

    var lines: [Audit.Line] = []
    var blocks: [Audit.Line] = []
    private var indices: [Key: Int] = [:]
    private var blockIndices: [Int32: Int] = [:]
    /// The line of the last call. Consecutive pairs often belong to the same line.
    private var last: (key: Key, index: Int)?

    mutating func line(_ process: Int32, _ name: Int32, _ observer: Int32) -> Int {
        let key = Key(process: process, name: name, observer: observer)
        if let last, last.key == key { return last.index }
        let index = indices[key] ?? lines.count
        if index == lines.count {
            indices[key] = index
            lines.append(Audit.Line(process: process, name: name, observer: observer))
        }
        last = (key, index)
        return index
    }

    mutating func block(_ process: Int32) -> Int {
        if let index = blockIndices[process] { return index }
        blockIndices[process] = blocks.count
        blocks.append(Audit.Line(process: process, name: -1, observer: -1))
        return blocks.count - 1
    }
}
