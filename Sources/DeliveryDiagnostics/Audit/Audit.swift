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
        var counts = FateCounts()
        /// The overflow policies that dropped notifications, as far as the records name them.
        var policies: Set<Int32> = []
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
    let isWhole: [Bool]

    /// True if the audit found no certain inconsistency.
    package var addsUp: Bool { faults.count == 0 }

    package init(_ recording: Recording) {
        self.init(DeliveryIndex(recording))
    }

    init(_ index: DeliveryIndex) {
        recording = index.recording
        isWhole = index.isWhole
        var ledger = LineTable()
        countRegistrations(index, &ledger)
        countPairs(index, &ledger)
        countPosts(index, &ledger)
        lines = ledger.lines
        blocks = ledger.blocks
        countQueues(index)
        checkStrays(index)
        checkLibraryCounts(index)
    }

    /// Adds a fault to `faults`, or to `unknown` if missing records could explain it.
    private mutating func note(
        _ kind: AuditFault.Kind, process: Int, post: Int32 = -1, place: Int32 = -1,
        _ text: () -> String
    ) {
        if isWhole[process] || kind.isSureInPart {
            faults.note(kind, post: post, place: place, text)
        } else {
            unknown.note(kind, post: post, place: place, text)
        }
    }

    // MARK: Counting

    private mutating func countRegistrations(_ index: DeliveryIndex, _ ledger: inout LineTable) {
        for (place, entry) in recording.entries.enumerated() where entry.stage == .register {
            let process = Int32(recording.process(of: entry))
            let line = ledger.line(process, entry.name, entry.observer)
            if entry.observer >= 0, index.registered[Int(entry.observer)] == Int32(place) {
                ledger.lines[line].counts.earlier = Int(index.earlier[Int(entry.observer)])
            }
        }
    }

    private mutating func countPairs(_ index: DeliveryIndex, _ ledger: inout LineTable) {
        let passedOver = index.passedOver
        for (number, pair) in index.pairs.enumerated() {
            let process = index.process(ofPost: pair.post)
            let isPassedOver = passedOver.contains(Int32(number))
            var counts = FateCounts()
            if pair.skip >= 0, pair.fate < 0 {
                counts.skipped = 1
            } else {
                counts.posted = 1
                if pair.fate >= 0 {
                    counts.count(index.entry(pair.fate).stage)
                } else if index.outlives(pair) || isPassedOver {
                    if index.isWhole[process] { counts.lost = 1 } else { counts.pending = 1 }
                } else {
                    counts.pending = 1
                }
            }
            let line: Int
            if pair.kind == .block {
                line = ledger.block(Int32(process))
                ledger.blocks[line].counts += counts
            } else {
                line = ledger.line(Int32(process), index.name(of: pair), pair.observer)
                ledger.lines[line].counts += counts
            }
            if counts.dropped > 0, index.entry(pair.fate).message >= 0, pair.kind != .block {
                ledger.lines[line].policies.insert(index.entry(pair.fate).message)
            }
            check(pair, process, index)
            guard isPassedOver else { continue }
            let words = AuditWords(index: index)
            note(.lost, process: process, post: pair.post, place: pair.append) {
                "\(words.post(pair.post)) was handed over\(words.forObserver(pair)) and never delivered, although a "
                    + "later notification of the same thread was"
            }
        }
    }

    private mutating func check(_ pair: DeliveryIndex.Pair, _ process: Int, _ index: DeliveryIndex) {
        let words = AuditWords(index: index)
        if pair.secondFate >= 0 {
            note(.twoFates, process: process, post: pair.post, place: pair.secondFate) {
                "\(words.post(pair.post)) has two outcomes\(words.forObserver(pair)): \(words.record(pair.fate)), then "
                    + words.record(pair.secondFate)
            }
        }
        if pair.fate >= 0, pair.skip >= 0 {
            note(.fateAfterSkip, process: process, post: pair.post, place: pair.fate) {
                "\(words.post(pair.post)) was skipped for \(words.observer(pair)) (\(words.record(pair.skip))) but "
                    + "has an outcome: \(words.record(pair.fate))"
            }
        }
        if pair.fate < 0, pair.skip < 0, index.outlives(pair) {
            let target = index.target(of: pair)
            note(.lostAtThreadEnd, process: process, post: pair.post, place: pair.append) {
                "\(words.post(pair.post)) was handed to \(words.recording.describeThread(target))"
                    + "\(words.forObserver(pair)); the thread ended (\(words.record(index.threadEnd[Int(target)]))), "
                    + "and no outcome was recorded"
            }
        }
        guard pair.kind != .block else { return }
        let posted = index.posted[Int(pair.post)]
        let first = pair.append >= 0 ? pair.append : pair.fate >= 0 ? pair.fate : pair.skip
        if posted < 0 {
            note(.withoutPost, process: process, post: pair.post, place: first) {
                "\(words.post(pair.post)) has a record\(words.forObserver(pair)) (\(words.record(first))), but its "
                    + "post was not recorded"
            }
        } else if pair.kind == .observed, pair.append < 0, pair.fate >= 0, index.entry(pair.fate).stage == .deliver,
            index.entry(pair.fate).thread != index.entry(posted).thread
        {
            note(.notHandedOver, process: process, post: pair.post, place: pair.fate) {
                "\(words.post(pair.post)) was delivered\(words.forObserver(pair)) on another thread "
                    + "(\(words.record(pair.fate))), but no append was recorded"
            }
        }
    }

    /// Compares the number of observers that each post matched with the number that has records.
    private mutating func countPosts(_ index: DeliveryIndex, _ ledger: inout LineTable) {
        let words = AuditWords(index: index)
        for post in recording.posts.indices {
            guard index.posted[post] >= 0 else { continue }
            let entry = index.entry(index.posted[post])
            guard entry.count >= 0, entry.count != index.matches[post] else { continue }
            let (process, post) = (index.process(ofPost: Int32(post)), Int32(post))
            let matches = index.matches[Int(post)]
            if entry.count < matches {
                note(.tooMany, process: process, post: post, place: index.posted[Int(post)]) {
                    "\(words.post(post)) matched \(words.observers(entry.count)), but \(matches) have records"
                }
                continue
            }
            let missing = Int(entry.count - matches)
            if isWhole[process], index.unfinished.contains(post) {
                // The program ended while it was posting.
                let line = ledger.line(Int32(process), entry.name, LineTable.unknownObserver)
                ledger.lines[line].counts += FateCounts(posted: missing, pending: missing)
                continue
            }
            // The observers that missed the post are known if exactly as many observers could have matched it. The
            // search looks at every observer, so it is limited.
            let candidates = faults.count + unknown.count < 10_000 ? words.couldHaveMatched(post) : []
            if isWhole[process] {
                if candidates.count == missing {
                    for observer in candidates {
                        let line = ledger.line(Int32(process), entry.name, observer)
                        ledger.lines[line].counts += FateCounts(posted: 1, lost: 1)
                    }
                } else {
                    let line = ledger.line(Int32(process), entry.name, LineTable.unknownObserver)
                    ledger.lines[line].counts += FateCounts(posted: missing, lost: missing)
                }
            }
            note(.lost, process: process, post: post, place: index.posted[Int(post)]) {
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
            guard index.queueFates[post] > 0 else {
                queues[line].waiting += 1
                continue
            }
            switch index.entry(index.queueFate[post]).stage {
            case .post: queues[line].posted += 1
            case .coalesce: queues[line].coalesced += 1
            case .dequeue: queues[line].dequeued += 1
            default: queues[line].targetGone += 1
            }
            if index.queueFates[post] > 1 {
                note(.twoFates, process: process, post: Int32(post), place: index.queueFate[post]) {
                    "\(words.post(Int32(post))) was enqueued once but has \(index.queueFates[post]) outcomes in its "
                        + "queue, the last: \(words.record(index.queueFate[post]))"
                }
            }
        }
    }

    private mutating func checkStrays(_ index: DeliveryIndex) {
        let words = AuditWords(index: index)
        for place in index.strayReturns {
            let entry = index.entry(place)
            note(.returnWithoutDeliver, process: recording.process(of: entry), post: entry.post, place: place) {
                "a handler returned, but its call was not recorded: \(words.record(place))"
            }
        }
        for place in index.strayQueueFates {
            let entry = index.entry(place)
            note(.withoutPost, process: recording.process(of: entry), post: entry.post, place: place) {
                "\(words.post(entry.post)) left a posting queue (\(words.record(place))), but its enqueue was not "
                    + "recorded"
            }
        }
    }

    // MARK: The library's counts

    private mutating func checkLibraryCounts(_ index: DeliveryIndex) {
        /// For each observer, the last count, and the record before it on the same thread. The library counted between
        /// these two.
        var counted: [Int32: (place: Int32, since: Int32)] = [:]
        var queueCounts: [Int: [Int32]] = [:]
        var last: [Int32] = Array(repeating: -1, count: recording.threads.count)
        for (place, entry) in recording.entries.enumerated() {
            if entry.stage == .count, entry.message >= 0 {
                if entry.observer >= 0 {
                    counted[entry.observer] = (Int32(place), last[Int(entry.thread)])
                } else {
                    queueCounts[recording.process(of: entry), default: []].append(Int32(place))
                }
            } else {
                last[Int(entry.thread)] = Int32(place)
            }
        }
        if !counted.isEmpty { checkCounts(of: counted, index) }
        for (process, places) in queueCounts.sorted(by: { $0.key < $1.key }) {
            checkQueueCounts(process, places, index)
        }
    }

    /// A count must be at least the number of records before it, and at most the number of all records.
    private mutating func checkCounts(of counted: [Int32: (place: Int32, since: Int32)], _ index: DeliveryIndex) {
        var least: [Int32: FateCounts] = [:]
        var most: [Int32: FateCounts] = [:]
        for pair in index.pairs where pair.observer >= 0 && pair.skip < 0 {
            guard let count = counted[pair.observer] else { continue }
            let first = pair.append >= 0 ? pair.append : pair.fate
            var all = FateCounts(posted: 1)
            if pair.fate >= 0 { all.count(index.entry(pair.fate).stage) }
            most[pair.observer, default: FateCounts()] += all
            var before = FateCounts(posted: first <= count.since ? 1 : 0)
            if pair.fate >= 0, pair.fate <= count.since { before.count(index.entry(pair.fate).stage) }
            least[pair.observer, default: FateCounts()] += before
        }
        let words = AuditWords(index: index)
        for (observer, count) in counted.sorted(by: { $0.key < $1.key }) {
            let entry = index.entry(count.place)
            guard let message = recording.message(of: entry), let said = CountMessage.counts(in: message) else {
                continue
            }
            let (least, most) = (least[observer] ?? FateCounts(), most[observer] ?? FateCounts())
            // The library also counts what was handed over before the recording began.
            guard index.earlier[Int(observer)] == 0 else { continue }
            let wrong = FateCounts.countedFates.filter { name, fate in
                let value = said[name] ?? 0
                return value < least[keyPath: fate] || value > most[keyPath: fate]
            }
            guard !wrong.isEmpty else { continue }
            note(.miscounted, process: recording.process(of: entry), place: count.place) {
                "the library's counters for \(words.recording.describeObserver(observer)) "
                    + "(\(words.record(count.place))) differ from the records: "
                    + wrong.map { "\($0.name) \(said[$0.name] ?? 0), recorded \(most[keyPath: $0.fate])" }
                    .joined(separator: "; ")
            }
        }
    }

    /// Records do not say which queue a count belongs to, so a count is checked against the sum of all queues.
    private mutating func checkQueueCounts(_ process: Int, _ places: [Int32], _ index: DeliveryIndex) {
        var sum = QueueLine(process: Int32(process), name: -1)
        for line in queues where Int(line.process) == process {
            sum.enqueued += line.enqueued
            sum.posted += line.posted
            sum.coalesced += line.coalesced
            sum.dequeued += line.dequeued
            sum.targetGone += line.targetGone
        }
        let words = AuditWords(index: index)
        guard let place = places.last, let message = recording.message(of: index.entry(place)),
            let said = CountMessage.counts(in: message), let enqueued = said["enqueued"], enqueued >= sum.enqueued
        else { return }
        let wrong = [
            ("enqueued", sum.enqueued), ("posted", sum.posted), ("coalesced", sum.coalesced),
            ("dequeued", sum.dequeued), ("target gone", sum.targetGone),
        ].filter { said[$0.0] ?? 0 > $0.1 }
        guard !wrong.isEmpty else { return }
        note(.miscounted, process: process, place: place) {
            "the library's counters for a posting queue (\(words.record(place))) differ from the records: "
                + wrong.map { "\($0.0) \(said[$0.0] ?? 0), recorded \($0.1)" }.joined(separator: "; ")
        }
    }
}

extension FateCounts {
    /// The counters that the library reports, with their names in messages.
    fileprivate static var countedFates: [(name: String, fate: KeyPath<FateCounts, Int>)] {
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
    private var places: [Key: Int] = [:]
    private var blockPlaces: [Int32: Int] = [:]
    /// The line of the last call. Consecutive pairs often belong to the same line.
    private var last: (key: Key, place: Int)?

    mutating func line(_ process: Int32, _ name: Int32, _ observer: Int32) -> Int {
        let key = Key(process: process, name: name, observer: observer)
        if let last, last.key == key { return last.place }
        let place = places[key] ?? lines.count
        if place == lines.count {
            places[key] = place
            lines.append(Audit.Line(process: process, name: name, observer: observer))
        }
        last = (key, place)
        return place
    }

    mutating func block(_ process: Int32) -> Int {
        if let place = blockPlaces[process] { return place }
        blockPlaces[process] = blocks.count
        blocks.append(Audit.Line(process: process, name: -1, observer: -1))
        return blocks.count - 1
    }
}
