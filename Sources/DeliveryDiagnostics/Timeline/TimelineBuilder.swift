package import DeliveryRecording
internal import ThreadedNotifications

extension Timeline {
    /// At most `limit` rows. Similar consecutive rows are drawn as one.
    package init(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, limit: Int? = nil,
        lanes: Int = 24, window: FindingWindow? = nil
    ) {
        var builder = TimelineBuilder(
            index: index, selection: selection ?? RecordingSelection(all: index.recording),
            timeline: Timeline(index: index, window: window))
        for (number, entry) in index.recording.entries.enumerated() {
            if !builder.add(entry, Int32(number), limit: limit ?? .max) { break }
        }
        builder.addLanes(atMost: lanes)
        self = builder.timeline
    }
}

/// Builds a timeline of the selected part of a recording.
private struct TimelineBuilder {
    let index: RecordingIndex
    let selection: RecordingSelection
    /// Until all lanes are known, lanes are indices of threads.
    var timeline: Timeline
    /// For each drawn span that has not ended: its index in `items`.
    var openItems: [Int32: Int] = [:]
    /// The number of similar rows at the end.
    var similar = 0

    /// - Returns: false if it would be a row beyond the limit.
    mutating func add(_ entry: Recording.Entry, _ number: Int32, limit: Int) -> Bool {
        let (time, isSelected, span) = (
            selection.elapsed(entry), selection.contains(entry), index.spanOfEntry[Int(number)]
        )
        if !isSelected { timeline.unselected += 1 }
        if entry.stage == .return || entry.stage == .waitEnd {
            guard isSelected, let item = openItems[span] else { return true }
            if timeline.rows.last == Timeline.Row(part: .begin, item: item) {
                timeline.rows.removeLast()
                addWhole(item)
            } else {
                guard hasRoom(limit, time) else { return false }
                timeline.rows.append(Timeline.Row(part: .end, item: item))
            }
            openItems[span] = nil
        } else if isSelected, isDrawn(entry, number) {
            guard hasRoom(limit, time) else { return false }
            let item = addItem(entry, number)
            if timeline.items[item].lasts {
                // When a span ends, its row may be folded into the rows before it.
                timeline.rows.append(Timeline.Row(part: .begin, item: item))
            } else {
                addWhole(item)
            }
        } else if isSelected, [.signal, .dropSignal, .drain].contains(entry.stage) {
            timeline.undrawn += 1
        } else if span >= 0, time < selection.times.lowerBound, selection.matches(entry),
            end(of: index.spans[Int(span)]) >= selection.times.lowerBound
        {
            // It began earlier, but has not ended.
            _ = addItem(entry, number)
        }
        return true
    }

    /// True if the record has a row of its own.
    private func isDrawn(_ entry: Recording.Entry, _ number: Int32) -> Bool {
        switch entry.stage {
        case .signal, .dropSignal, .drain, .postEnd: false
        // The append for an observer is part of its delivery. The append of a block is where its arrow begins.
        case .append: entry.post >= 0 && index.origin(ofPost: entry.post) == number
        // The document's observer captures a post; the two are drawn as one.
        case .capture: entry.post < 0 || index.origin(ofPost: entry.post) == number
        default: true
        }
    }

    private mutating func hasRoom(_ limit: Int, _ time: Int64) -> Bool {
        if timeline.rows.count == limit { timeline.limitReached = time }
        return timeline.rows.count < limit
    }

    /// Adds the row of the last item. Four or more similar rows are one: up to three are easy to read, and show more.
    private mutating func addWhole(_ item: Int) {
        let before = timeline.rows.last
        timeline.rows.append(Timeline.Row(part: .whole, item: item))
        let follows = before == Timeline.Row(part: .whole, item: item - 1) && item == timeline.items.count - 1
        similar = follows && areSimilar(timeline.items[item - 1], timeline.items[item]) ? similar + 1 : 1
        let folded = similar < 4 ? 0 : similar == 4 ? 3 : 1
        for other in timeline.items.suffix(folded) { timeline.items[item - folded].append(other) }
        timeline.items.removeLast(folded)
        timeline.rows.removeLast(folded)
    }

    /// True if the rows of two items look the same except for their numbers and times.
    private func areSimilar(_ one: Timeline.Item, _ other: Timeline.Item) -> Bool {
        let (entry, otherEntry) = (index.entry(one.entry), index.entry(other.entry))
        // The messages of logs and waits differ.
        return ![.log, .wait, .refuseWait].contains(one.stage) && one.lane == other.lane && one.stage == other.stage
            && one.depth == other.depth && entry.name == otherEntry.name && (entry.post < 0) == (otherEntry.post < 0)
            && one.arrow?.kind == other.arrow?.kind && one.arrow?.lane == other.arrow?.lane
            && timeline.isUnobserved(one) == timeline.isUnobserved(other) && (one.waiting > 0) == (other.waiting > 0)
    }

    // MARK: Items and arrows

    private mutating func addItem(_ entry: Recording.Entry, _ number: Int32) -> Int {
        let (span, item) = (index.spanOfEntry[Int(number)], timeline.items.count)
        let time = selection.elapsed(entry)
        timeline.items.append(
            Timeline.Item(
                stage: entry.stage, entry: number, lane: Int(entry.thread), begin: time,
                end: span < 0 ? time : end(of: index.spans[Int(span)]),
                ending: span < 0 ? nil : index.spans[Int(span)].ending, depth: index.depth(of: number),
                waiting: waiting(entry), arrow: arrow(to: entry, number), lastEntry: number))
        if span >= 0 { openItems[span] = item }
        return item
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
            let isOwn =
                posted >= 0 && index.entry(posted).thread == entry.thread && entry.name >= 0 && delivery >= 0
                && index.deliveries[Int(delivery)].append < 0
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
            kind: kind, entry: origin, lane: Int(start.thread),
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
        let used = Set(timeline.items.map(\.lane) + timeline.items.compactMap(\.arrow?.lane))
        let threads = index.recording.ordered(used)
        timeline.lanes = threads.prefix(most).map(lane)
        if threads.count > most {
            timeline.lanes[most - 1] = Timeline.Lane(title: "\(threads.count - most + 1) others", begin: 0, end: .max)
        }
        let lanes = Dictionary(uniqueKeysWithValues: threads.enumerated().map { ($1, min($0, most - 1)) })
        for number in timeline.items.indices {
            let arrow = timeline.items[number].arrow
            timeline.items[number].lane = lanes[timeline.items[number].lane] ?? 0
            timeline.items[number].arrow?.lane = arrow.flatMap { lanes[$0.lane] } ?? 0
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

extension Recording {
    /// Threads in the order of processes and thread numbers.
    func ordered(_ indices: some Sequence<Int>) -> [Int] {
        indices.sorted { one, other in
            (threads[one].process, threads[one].identity.number)
                < (threads[other].process, threads[other].identity.number)
        }
    }
}
