internal import DeliveryRecording
internal import ThreadedNotifications

/// Computes the statistics of a recording in two passes: one over its records, and one over the deliveries of each
/// group.
struct StatisticsCollector {
    private typealias Group = DeliveryStatistics.Group

    private let recording: Recording
    private let index: RecordingIndex
    private let selection: RecordingSelection
    private let start: UInt64
    private let end: UInt64
    /// Indices of `deliver` entries.
    private var deliveries: [Int32] = []
    /// Indices of `post` entries of posting queues.
    private var queued: [Int32] = []

    private var total = Group(label: "all")
    /// The first one is for blocks.
    private var names = [Group(label: DeliveryStatistics.blocks)]
    /// For each string: its index in `names`.
    private var nameIndices: [Int32]
    private var observers: [Group]
    private var threads: [Group]
    private var mailboxes: [DeliveryStatistics.Mailbox]
    private var queues = DeliveryStatistics.Queues()
    private var signals = 0
    private var lostSignals = 0
    private var refusedWaits = 0
    /// For each thread: the current depth of its mailbox, the time of the last change, and the sum of depth times
    /// nanoseconds.
    private var depths: [(now: Int, since: UInt64, area: Double)]
    /// For each thread: the number of deliveries in each drain. The last is the current drain.
    private var batches: [[UInt32]]
    /// For each thread: its waits, as indices of spans.
    private var waits: [[Int32]]

    init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        self.index = index
        self.selection = selection
        recording = index.recording
        let (first, last) = (recording.entries.first?.time ?? 0, recording.entries.last?.time ?? 0)
        start = min(last, first + UInt64(selection.times.lowerBound))
        end = max(
            start, min(last, selection.times.upperBound == .max ? last : first + UInt64(selection.times.upperBound)))
        let recording = index.recording
        let identifiers = TraceIdentifiers(recording)
        func label(_ label: String, _ process: Int32) -> String {
            recording.processes.count > 1 ? "\(label) of \(identifiers.processes[Int(process)])" : label
        }
        nameIndices = Array(repeating: -1, count: recording.strings.count)
        // Most strings may be messages, so names get indices of their own.
        for entry in recording.entries where entry.name >= 0 && nameIndices[Int(entry.name)] < 0 {
            nameIndices[Int(entry.name)] = Int32(names.count)
            names.append(Group(label: recording.strings[Int(entry.name)]))
        }
        var namesOfObservers = [Int32](repeating: -1, count: recording.observers.count)
        for entry in recording.entries where entry.observer >= 0 && entry.name >= 0 {
            namesOfObservers[Int(entry.observer)] = entry.name
        }
        observers = recording.observers.indices.map { number in
            let (observer, name) = (recording.observers[number], namesOfObservers[number])
            var group = Group(label: label("\(observer.number)", observer.process))
            if name >= 0 { group.label += " \(recording.strings[Int(name)])" }
            group.place = index.registration(of: Int32(number)).flatMap(recording.place(of:))?.description
            return group
        }
        let labels = zip(recording.threads, identifiers.names).map { label($1, $0.process) }
        threads = labels.map { Group(label: $0) }
        mailboxes = labels.map { DeliveryStatistics.Mailbox(label: $0) }
        depths = Array(repeating: (0, start, 0), count: labels.count)
        batches = Array(repeating: [], count: labels.count)
        waits = Array(repeating: [], count: labels.count)
    }

    mutating func collect(into statistics: inout DeliveryStatistics) {
        var records = 0
        for (number, entry) in recording.entries.enumerated() where selection.contains(entry) {
            count(entry, Int32(number))
            records += 1
        }
        finishDepths()
        statistics.records = records
        statistics.processes = recording.processes.count
        statistics.threadCount = recording.threads.count
        statistics.nanoseconds = end - start
        statistics.signals = signals
        statistics.lostSignals = lostSignals
        statistics.refusedWaits = refusedWaits
        statistics.drains = batches.reduce(0) { $0 + $1.count }
        statistics.deliveriesPerDrain = Distribution(of: batches.joined().lazy.map { UInt64($0) })
        statistics.waits = Distribution(
            of: waits.joined().lazy.compactMap { [index] in index.duration(of: index.spans[Int($0)]) })
        finishMailboxes()
        queues.waiting = Distribution(
            of: queued.lazy.map { [index] in index.time(from: index.waitBegin($0), to: $0) })
        statistics.queues = queues
        let seconds = Double(end - start) / 1e9
        statistics.total = total
        statistics.total.postsPerSecond = Self.rate(total.posted, seconds)
        measure(&statistics.total, deliveries[...])
        statistics.names = grouped(names, in: Self.busiest(names), seconds) { [nameIndices] in
            $0.name < 0 ? 0 : Int(nameIndices[Int($0.name)])
        }
        statistics.observers = grouped(observers, in: Self.busiest(observers), seconds) { Int($0.observer) }
        let order = recording.threads.indices.sorted { one, other in
            let (one, other) = (recording.threads[one], recording.threads[other])
            return (one.process, one.identity.number) < (other.process, other.identity.number)
        }
        statistics.threads = grouped(threads, in: order, seconds) { Int($0.thread) }
        statistics.mailboxes = order.map { mailboxes[$0] }.filter {
            $0.appended + $0.signals + $0.drains + $0.endlessWaits > 0 || $0.waits != nil
        }
    }

    private static func rate(_ posts: Int, _ seconds: Double) -> Double? {
        seconds > 0 && posts > 0 ? Double(posts) / seconds : nil
    }

    /// Indices of the groups in descending order of posts and deliveries.
    private static func busiest(_ groups: [Group]) -> [Int] {
        func weight(_ index: Int) -> Int { groups[index].posted + groups[index].delivered }
        return groups.indices.sorted { (-weight($0), $0) < (-weight($1), $1) }
    }

    // MARK: Counting

    private mutating func count(_ entry: Recording.Entry, _ number: Int32) {
        let thread = Int(entry.thread)
        let delivery = index.deliveryOfEntry[Int(number)]
        let begun = index.waitBegin(number)
        let isOfQueue = begun >= 0 && index.entry(begun).stage == .enqueue
        switch entry.stage {
        case .post, .capture:
            if isOfQueue {
                queues.posted += 1
                queued.append(number)
            }
            // A capture counts as a post unless the post that it belongs to has a record.
            guard entry.stage == .post || index.posted(number) < 0 && entry.relatedPost < 0 else { break }
            total.posted += 1
            names[name(entry)].posted += 1
            threads[thread].posted += 1
        case .enqueue:
            queues.enqueued += 1
        case .dequeue:
            queues.dequeued += 1
        case .append:
            if entry.observer >= 0 { observers[Int(entry.observer)].posted += 1 }
        case .deliver:
            deliveries.append(number)
            if begun < 0, entry.observer >= 0 { observers[Int(entry.observer)].posted += 1 }
            if begun >= 0, !batches[thread].isEmpty { batches[thread][batches[thread].count - 1] += 1 }
            let isEndless = index.recordsEnd(number) && index.partner(of: number) < 0 ? 1 : 0
            add(entry, thread) {
                $0.delivered += 1
                $0.neverReturned += isEndless
            }
        case .coalesce, .drop, .cancel, .targetGone:
            if isOfQueue {
                if entry.stage == .coalesce { queues.coalesced += 1 }
                if entry.stage == .targetGone { queues.targetGone += 1 }
                break
            }
            let mailbox = begun >= 0 ? index.mailbox(begun) : entry.target
            add(entry, Int(mailbox < 0 ? entry.thread : mailbox)) { group in
                switch entry.stage {
                case .coalesce: group.coalesced += 1
                case .drop: group.dropped += 1
                case .cancel: group.cancelled += 1
                default: group.targetGone += 1
                }
            }
        case .dropSignal:
            lostSignals += 1
        case .refuseWait:
            refusedWaits += 1
        case .signal:
            signals += 1
            if entry.target >= 0 { mailboxes[Int(entry.target)].signals += 1 }
        case .drain:
            mailboxes[thread].drains += 1
            batches[thread].append(0)
        case .wait:
            waits[thread].append(index.spanOfEntry[Int(number)])
            if index.partner(of: number) < 0 { mailboxes[thread].endlessWaits += 1 }
        case .register, .remove, .return, .skip, .waitEnd, .threadEnd, .count, .log, .processStart,
            .processEnd, .fork, .lost, .end:
            break
        }
        if delivery >= 0, index.deliveries[Int(delivery)].append == number {
            let mailbox = Int(index.mailbox(number))
            guard mailbox >= 0 else { return }
            mailboxes[mailbox].appended += 1
            change(mailbox, by: 1, at: entry.time)
            if index.deliveries[Int(delivery)].isPending { add(entry, mailbox) { $0.pending += 1 } }
        } else if begun >= 0, selection.contains(index.entry(begun)), index.mailbox(begun) >= 0 {
            change(Int(index.mailbox(begun)), by: -1, at: entry.time)
        }
    }

    private func name(_ entry: Recording.Entry) -> Int { entry.name < 0 ? 0 : Int(nameIndices[Int(entry.name)]) }

    private mutating func add(_ entry: Recording.Entry, _ thread: Int, _ change: (inout Group) -> Void) {
        change(&total)
        change(&names[name(entry)])
        if entry.observer >= 0 { change(&observers[Int(entry.observer)]) }
        change(&threads[thread])
    }

    // MARK: Depth

    private mutating func change(_ mailbox: Int, by difference: Int, at time: UInt64) {
        depths[mailbox].area += Double(depths[mailbox].now) * Double(time - depths[mailbox].since)
        depths[mailbox].since = time
        depths[mailbox].now += difference
        mailboxes[mailbox].highestDepth = max(mailboxes[mailbox].highestDepth ?? 0, depths[mailbox].now)
    }

    private mutating func finishDepths() {
        for mailbox in mailboxes.indices where mailboxes[mailbox].highestDepth != nil && end > start {
            change(mailbox, by: 0, at: end)
            mailboxes[mailbox].meanDepth = depths[mailbox].area / Double(end - start)
        }
    }

    private mutating func finishMailboxes() {
        for mailbox in mailboxes.indices {
            mailboxes[mailbox].deliveriesPerDrain = Distribution(of: batches[mailbox].lazy.map { UInt64($0) })
            mailboxes[mailbox].waits = Distribution(
                of: waits[mailbox].lazy.compactMap { [index] in index.duration(of: index.spans[Int($0)]) })
        }
    }

    // MARK: Measuring

    private func measure(_ group: inout Group, _ deliveries: ArraySlice<Int32>) {
        func times(since begin: (Int32) -> Int32) -> Distribution? {
            Distribution(
                of: deliveries.compactMap { delivery in
                    let begin = begin(delivery)
                    return begin < 0 ? nil : index.time(from: begin, to: delivery)
                })
        }
        group.postToDelivery = times(since: index.posted)
        group.waiting = times(since: index.waitBegin)
        group.handler = Distribution(
            of: deliveries.lazy.compactMap { index.duration(of: index.spans[Int(index.spanOfEntry[Int($0)])]) })
    }

    /// Measures the groups that have any records.
    ///
    /// - Parameters:
    ///   - order: the order of the groups.
    ///   - number: returns the group of a delivery; negative for none.
    private func grouped(
        _ groups: [Group], in order: [Int], _ seconds: Double, by number: (Recording.Entry) -> Int
    ) -> [Group] {
        // A counting sort takes the same time for any number of groups.
        var ends = [Int](repeating: 0, count: groups.count + 1)
        for index in deliveries { ends[number(recording.entries[Int(index)]) + 1] += 1 }
        for index in ends.indices.dropFirst() { ends[index] += ends[index - 1] }
        var nexts = [0] + ends.dropLast()
        var sorted = [Int32](repeating: 0, count: deliveries.count)
        for index in deliveries {
            let group = number(recording.entries[Int(index)]) + 1
            sorted[nexts[group]] = index
            nexts[group] += 1
        }
        var measured: [Group] = []
        for index in order {
            var group = groups[index]
            let outcomes = group.coalesced + group.dropped + group.cancelled + group.targetGone
            guard group.posted + group.delivered + outcomes + group.pending > 0 else { continue }
            group.postsPerSecond = Self.rate(group.posted, seconds)
            measure(&group, sorted[ends[index]..<ends[index + 1]])
            measured.append(group)
        }
        return measured
    }
}
