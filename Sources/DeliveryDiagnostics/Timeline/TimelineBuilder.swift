package import DeliveryRecording
internal import ThreadedNotifications

extension Timeline {
    /// At most `limit` rows. If it folds runs, it draws similar consecutive rows as one. Of more than `lanes` threads, the
    /// busiest keep their lanes; the others share one.
    package init(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, limit: Int? = nil, foldsRuns: Bool = true,
        lanes: Int = 24, window: FindingWindow? = nil
    ) {
        var builder = TimelineBuilder(
            index: index, selection: selection ?? RecordingSelection(all: index.recording), limit: limit ?? .max,
            foldsRuns: foldsRuns, timeline: Timeline(index: index, window: window))
        for (number, entry) in index.recording.entries.enumerated() { builder.add(entry, Int32(number)) }
        builder.addLanes(atMost: lanes)
        self = builder.timeline
    }
}

/// Builds a timeline of the selected part of a recording.
private struct TimelineBuilder {
    let index: RecordingIndex
    let selection: RecordingSelection
    let limit: Int
    let foldsRuns: Bool
    /// Until all lanes are known, lanes are indices of threads.
    var timeline: Timeline
    /// For each drawn span that has not ended: its index in `items`.
    var openItems: [Int32: Int] = [:]

    /// Up to three rows are easy to read and show more than one row for all of them.
    private static let minimumRun = 4
    /// The messages of these records differ.
    private static let ownRows: Set<DeliveryStage> = [
        .wait, .refuseWait, .threadEnd, .log, .processStart, .processEnd, .fork, .lost, .end,
    ]

    mutating func add(_ entry: Recording.Entry, _ number: Int32) {
        let (time, isDrawn, span) = (selection.elapsed(entry), isDrawn(entry, number), index.spanOfEntry[Int(number)])
        let isEnd = entry.stage == .return || entry.stage == .waitEnd
        if !selection.matches(entry) {
            timeline.leftOut.filtered += 1
        } else if time < selection.times.lowerBound {
            timeline.leftOut.before += 1
            // A span that began earlier but has not ended is drawn.
            if isDrawn, span >= 0, !isEnd, end(of: index.spans[Int(span)]) >= selection.times.lowerBound {
                openItems[span] = addItem(entry, number)
            }
        } else if time > selection.times.upperBound {
            timeline.leftOut.after += 1
        } else if !isDrawn, timeline.leftOut.beyondLimit == 0 {
            // The others are part of a post or a delivery.
            let isPart = [.append, .capture, .postEnd].contains(entry.stage)
            if !isPart { timeline.leftOut.undrawn[entry.stage, default: 0] += 1 }
        } else if isDrawn, isEnd, let item = openItems.removeValue(forKey: span) {
            let follows = timeline.rows.last == Timeline.Row(part: .begin, item: item)
            if follows { timeline.rows.removeLast() }
            addRow(follows ? .whole : .end, item, at: time)
        } else if !isDrawn || isEnd || isFull {
            leaveOut(at: time)
        } else {
            let item = addItem(entry, number)
            if span >= 0 { openItems[span] = item }
            // When a span ends, its row may be folded into the rows before it.
            addRow(timeline.items[item].lasts ? .begin : .whole, item, at: time)
        }
    }

    /// True if the record has a row of its own.
    private func isDrawn(_ entry: Recording.Entry, _ number: Int32) -> Bool {
        switch entry.stage {
        case .signal, .dropSignal, .drain, .postEnd: false
        // The append for an observer is part of its delivery. The append of a block is where its arrow begins.
        case .append: entry.post >= 0 && index.origin(ofPost: entry.post) == number
        // The document's observer captures a post; the two are drawn as one.
        case .capture: entry.post < 0 || index.origin(ofPost: entry.post) == number
        case .return, .waitEnd: index.spanOfEntry[Int(number)] >= 0
        default: true
        }
    }

    // MARK: Rows

    /// True if no row may be added. Once a row was left out, none is added again, even if folding reduces their number.
    private var isFull: Bool { timeline.leftOut.beyondLimit > 0 || timeline.rows.count >= limit }

    private mutating func leaveOut(at time: Int64) {
        if timeline.leftOut.beyondLimit == 0 { timeline.leftOut.limitReached = time }
        timeline.leftOut.beyondLimit += 1
    }

    private mutating func addRow(_ part: Timeline.Row.Part, _ item: Int, at time: Int64) {
        if part == .end, isFull { return leaveOut(at: time) }
        timeline.rows.append(Timeline.Row(part: part, item: item))
        guard part == .whole, foldsRuns, !Self.ownRows.contains(timeline.items[item].stage) else { return }
        // Folds the row into the similar rows before it. Their items are the last items.
        let (rows, last) = (timeline.rows.count, timeline.items.count - 1)
        let members = last > 0 && timeline.items[last - 1].isRun ? 2 : Self.minimumRun
        let isRun =
            rows >= members
            && (1...members).allSatisfy {
                timeline.rows[rows - $0] == Timeline.Row(part: .whole, item: last + 1 - $0)
                    && areSimilar(timeline.items[last + 1 - $0], timeline.items[last])
            }
        guard isRun else { return }
        for item in last + 2 - members...last { timeline.items[last + 1 - members].append(timeline.items[item]) }
        timeline.rows.removeLast(members - 1)
        timeline.items.removeLast(members - 1)
    }

    /// True if the rows of two items look the same except for their numbers and times.
    private func areSimilar(_ one: Timeline.Item, _ other: Timeline.Item) -> Bool {
        let (entry, otherEntry) = (index.entry(one.entry), index.entry(other.entry))
        return one.lane == other.lane && one.stage == other.stage && one.depth == other.depth
            && entry.name == otherEntry.name && (entry.post < 0) == (otherEntry.post < 0)
            && one.arrow?.kind == other.arrow?.kind && one.arrow?.lane == other.arrow?.lane
            && timeline.isUnobserved(one) == timeline.isUnobserved(other) && (one.waiting > 0) == (other.waiting > 0)
    }

    // MARK: Items and arrows

    private mutating func addItem(_ entry: Recording.Entry, _ number: Int32) -> Int {
        let span = index.spanOfEntry[Int(number)] < 0 ? nil : index.spans[Int(index.spanOfEntry[Int(number)])]
        let time = selection.elapsed(entry)
        timeline.items.append(
            Timeline.Item(
                stage: entry.stage, entry: number, lane: Int(entry.thread), begin: time, end: span.map(end) ?? time,
                ending: span?.ending, depth: index.depth(of: number), waiting: waiting(entry),
                arrow: arrow(to: entry, number), lastEntry: number))
        return timeline.items.count - 1
    }

    private func end(of span: RecordingIndex.Span) -> Int64 {
        if span.ending == .notRecorded { return selection.elapsed(index.entry(span.begin)) }
        return (span.end >= 0 ? index.entry(span.end) : index.recording.entries.last).map(selection.elapsed) ?? 0
    }

    private func arrow(to entry: Recording.Entry, _ number: Int32) -> Timeline.Arrow? {
        guard entry.post >= 0 else { return nil }
        let delivery = index.deliveryOfEntry[Int(number)]
        let (posted, enqueued) = (index.origin(ofPost: entry.post), index.posts[Int(entry.post)].enqueued)
        let (kind, origin): (Timeline.Arrow.Kind, Int32)
        switch entry.stage {
        case .deliver:
            let waited = delivery < 0 || index.deliveries[Int(delivery)].append >= 0 || entry.name < 0
            let isOwn = !waited && (posted < 0 || index.entry(posted).thread == entry.thread)
            (kind, origin) = (isOwn ? .atOnce : .delivery, posted)
        case .post: (kind, origin) = (.queued, enqueued)
        case .capture:
            let sender = index.posts[Int(entry.post)].sentBy
            (kind, origin) = (.delivery, sender < 0 ? -1 : index.posts[Int(sender)].posted)
        // A notification may never leave its posting queue: the arrow begins at its `enqueue`.
        case .dequeue, .coalesce, .drop, .cancel, .targetGone:
            (kind, origin) = (.lost, delivery < 0 ? enqueued : posted)
        default: return nil
        }
        guard origin >= 0, origin < number else { return nil }
        let start = index.entry(origin)
        return Timeline.Arrow(
            kind: kind, entry: origin, lane: Int(start.thread), time: selection.elapsed(start),
            depth: index.depth(of: origin),
            latency: selection.elapsed(entry) - selection.elapsed(start))
    }

    /// The number of deliveries of a post that have no outcome.
    private func waiting(_ entry: Recording.Entry) -> Int {
        guard entry.post >= 0 else { return 0 }
        return switch entry.stage {
        case .enqueue: index.posts[Int(entry.post)].queueOutcome < 0 ? 1 : 0
        case .post, .capture, .append: index.pendingCount(ofPost: entry.post)
        default: 0
        }
    }

    // MARK: Lanes

    /// Adds the lanes of the threads that are drawn, and when the drawing begins and ends.
    mutating func addLanes(atMost most: Int) {
        var uses = [Int](repeating: 0, count: index.recording.threads.count)
        for item in timeline.items {
            uses[item.lane] += item.count
            if let arrow = item.arrow { uses[arrow.lane] += 1 }
        }
        let used = index.recording.ordered(uses.indices.filter { uses[$0] > 0 })
        let busiest = used.enumerated().sorted { (uses[$1.1], $0.0) < (uses[$0.1], $1.0) }.map(\.element)
        let kept = used.count > most ? index.recording.ordered(busiest.prefix(most - 1)) : used
        timeline.lanes = kept.map(lane)
        let others = used.filter { !kept.contains($0) }.map(lane)
        timeline.foldedLanes = others.map(\.title)
        if let begin = others.map(\.begin).min(), let end = others.map(\.end).max() {
            timeline.lanes.append(.init(title: "\(others.count) others", begin: begin, end: end))
        }
        let lanes = Dictionary(uniqueKeysWithValues: kept.enumerated().map { ($1, $0) })
        for index in timeline.items.indices {
            let item = timeline.items[index]
            timeline.items[index].lane = lanes[item.lane] ?? kept.count
            if let arrow = item.arrow { timeline.items[index].arrow?.lane = lanes[arrow.lane] ?? kept.count }
        }
        let first = timeline.rows.first.map { timeline.time(of: $0) } ?? 0
        let from = selection.times.lowerBound
        timeline.begin = timeline.items.contains { $0.begin < from } ? min(first, from) : first
        timeline.end = timeline.rows.reduce(timeline.begin) { end, row in
            max(end, row.part == .whole ? timeline.items[row.item].end : timeline.time(of: row))
        }
    }

    private func lane(of thread: Int) -> Timeline.Lane {
        let process = Int(index.recording.threads[thread].process)
        func time(_ entry: Int32) -> Int64 { entry < 0 ? .max : selection.elapsed(index.entry(entry)) }
        return Timeline.Lane(
            title: index.recording.describeThread(Int32(thread)), begin: time(index.threads[thread].first),
            // A thread without a recorded end may live on.
            end: min(time(index.threads[thread].end), time(index.processes[process].end)))
    }
}
