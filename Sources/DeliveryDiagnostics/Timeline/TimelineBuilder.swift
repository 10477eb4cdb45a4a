package import DeliveryRecording
internal import ThreadedNotifications

extension Timeline {
    /// - Parameters:
    ///   - limit: the maximum number of rows; nil for all.
    ///   - foldsRuns: true if similar consecutive rows are drawn as one.
    package init(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, limit: Int? = nil, foldsRuns: Bool = true
    ) {
        let selection = selection ?? .all(of: index.recording)
        self = TimelineBuilder(index, selection, limit: limit, foldsRuns: foldsRuns).timeline()
    }
}

/// Builds a timeline of the selected part of a recording.
private struct TimelineBuilder {
    private let index: RecordingIndex
    private let recording: Recording
    private let selection: RecordingSelection
    private let limit: Int?
    private let foldsRuns: Bool
    private var rows: [Timeline.Row] = []
    private var items: [Timeline.Item] = []
    private var arrows: [Timeline.Arrow] = []
    /// For each thread: the number of drawn deliveries that are still waiting for it at the end.
    private var waiting: [Int: Int] = [:]
    /// The number of similar rows at the end of `rows`.
    private var similarRows = 0
    private var lastSimilarity: Similarity?
    private var lastSimilarityRow = -1
    private var leftOut = Timeline.LeftOut()
    /// Properties that rows must share to be drawn as one.
    private struct Similarity: Hashable {
        var lane: Int
        var stage: DeliveryStage
        var name: String?
        var depth: Int
        var arrowKind: Timeline.Arrow.Kind?
        var fromLane: Int?
        var isUnobserved: Bool
        var isWaiting: Bool
    }

    /// Up to three rows are easy to read and show more than one row for all of them.
    private static let minimumRun = 4

    /// For each drawn span: its index in `items`.
    private var itemOfSpan: [Int: Int] = [:]

    init(_ index: RecordingIndex, _ selection: RecordingSelection, limit: Int?, foldsRuns: Bool) {
        self.index = index
        recording = index.recording
        self.selection = selection
        self.limit = limit
        self.foldsRuns = foldsRuns
    }

    func timeline() -> Timeline {
        var builder = self
        builder.build()
        return builder.laidOut()
    }

    // MARK: Rows

    private mutating func build() {
        for (number, entry) in recording.entries.enumerated() {
            guard isDrawn(entry, Int32(number)) else {
                // The others are part of a post or a delivery.
                if entry.stage != .append, entry.stage != .capture { leftOut.undrawn[entry.stage, default: 0] += 1 }
                continue
            }
            let time = selection.elapsed(entry)
            let span = index.spanOfEntry[number]
            if !selection.matches(entry) {
                leftOut.filtered += 1
            } else if time < selection.times.lowerBound {
                leftOut.before += 1
                // A span that began earlier but has not ended is drawn.
                if span >= 0, entry.stage != .return, entry.stage != .waitEnd,
                    end(of: index.spans[Int(span)]) >= selection.times.lowerBound
                {
                    itemOfSpan[Int(span)] = addItem(entry, Int32(number))
                }
            } else if time > selection.times.upperBound {
                leftOut.after += 1
            } else if entry.stage == .return || entry.stage == .waitEnd {
                addEnd(of: Int(span), at: time)
            } else if isFull {
                leaveOut(at: time)
            } else {
                let item = addItem(entry, Int32(number))
                if span >= 0 { itemOfSpan[Int(span)] = item }
                if span >= 0, items[item].ending != .isNotRecorded {
                    // When it returns, it may be folded into the rows before it.
                    rows.append(.begins(item))
                } else {
                    rows.append(.whole(item))
                    foldLastRow()
                }
            }
        }
    }

    private mutating func addEnd(of span: Int, at time: Int64) {
        // The beginning may be beyond the limit.
        guard let item = itemOfSpan[span] else { return leaveOut(at: time) }
        if rows.last == .begins(item) {
            rows[rows.count - 1] = .whole(item)
            foldLastRow()
        } else if isFull {
            leaveOut(at: time)
        } else {
            rows.append(.ends(item))
        }
    }

    /// True if no row may be added. Once a row was left out, none is added again, even if folding reduces their number.
    private var isFull: Bool { leftOut.beyondLimit > 0 || limit.map { rows.count >= $0 } ?? false }

    private mutating func leaveOut(at time: Int64) {
        if leftOut.beyondLimit == 0 { leftOut.limitReached = time }
        leftOut.beyondLimit += 1
    }

    // MARK: Runs

    /// Folds the last row into the similar rows before it. Rows that may be folded have the last items.
    private mutating func foldLastRow() {
        guard foldsRuns, let last = rows.last, let similarity = similarity(of: items[last.item]) else { return }
        let isSimilar = similarity == lastSimilarity && lastSimilarityRow == rows.count - 2
        similarRows = isSimilar ? similarRows + 1 : 1
        if similarRows >= Self.minimumRun {
            let members = (similarRows == Self.minimumRun ? Self.minimumRun : 2) - 1
            let folded = items.suffix(members)
            rows.removeLast(members)
            items.removeLast(members)
            arrows.removeLast(folded.count { $0.arrow != nil })
            for item in folded { items[items.count - 1].append(item) }
        }
        (lastSimilarity, lastSimilarityRow) = (similarity, rows.count - 1)
    }

    /// Nil if the item always has its own row.
    private func similarity(of item: Timeline.Item) -> Similarity? {
        switch item.stage {
        case .register, .remove, .enqueue, .dequeue, .post, .capture, .append, .deliver, .coalesce, .drop, .cancel,
            .targetGone, .skip:
            break
        // Their messages differ.
        case .signal, .dropSignal, .drain, .return, .wait, .waitEnd, .refuseWait, .threadEnd, .count, .log,
            .processStart, .processEnd, .fork, .lost, .end:
            return nil
        }
        let arrow = item.arrow.map { arrows[$0] }
        return Similarity(
            lane: item.lane, stage: item.stage, name: item.label.name, depth: item.depth, arrowKind: arrow?.kind,
            fromLane: arrow?.fromLane, isUnobserved: item.label.isUnobserved, isWaiting: item.label.waiting > 0)
    }

    /// True if the record has a row of its own.
    private func isDrawn(_ entry: Recording.Entry, _ number: Int32) -> Bool {
        switch entry.stage {
        case .signal, .dropSignal, .drain: false
        // The append for an observer is part of its delivery. The append of a block is where its arrow begins.
        case .append: entry.post >= 0 && index.origin(ofPost: entry.post) == number
        // The document's observer captures a post; the two are drawn as one.
        case .capture: entry.post < 0 || index.origin(ofPost: entry.post) == number
        case .return, .waitEnd: index.spanOfEntry[Int(number)] >= 0
        case .register, .remove, .enqueue, .dequeue, .post, .deliver, .coalesce, .drop, .cancel, .targetGone, .skip,
            .wait, .refuseWait, .threadEnd, .count, .log, .processStart, .processEnd, .fork, .lost, .end:
            true
        }
    }

    // MARK: Items and arrows

    /// Lanes hold thread indices until all lanes are known.
    private mutating func addItem(_ entry: Recording.Entry, _ number: Int32) -> Int {
        let span = index.spanOfEntry[Int(number)] < 0 ? nil : index.spans[Int(index.spanOfEntry[Int(number)])]
        let time = selection.elapsed(entry)
        let label = label(of: entry)
        var item = Timeline.Item(
            kind: span == nil ? .mark : entry.stage == .wait ? .wait : .handler, stage: entry.stage,
            lane: Int(entry.thread), begin: time, end: span.map(end) ?? time, depth: index.depth(of: number),
            label: label, lastPost: label.post)
        switch span?.ending {
        case .abandoned, .open: item.ending = .runsOn
        case .notRecorded: item.ending = .isNotRecorded
        case .returned, nil: break
        }
        item.longest = item.end - item.begin
        item.arrow = addArrow(to: entry, number)
        item.latency = item.arrow.map { arrows[$0].latency...arrows[$0].latency }
        items.append(item)
        return items.count - 1
    }

    /// The time until which a handler or wait is drawn.
    private func end(of span: RecordingIndex.Span) -> Int64 {
        if span.ending == .notRecorded { return selection.elapsed(index.entry(span.begin)) }
        return (span.end >= 0 ? index.entry(span.end) : recording.entries.last).map(selection.elapsed) ?? 0
    }

    private mutating func addArrow(to entry: Recording.Entry, _ number: Int32) -> Int? {
        guard entry.post >= 0 else { return nil }
        let kind: Timeline.Arrow.Kind
        var origin = index.origin(ofPost: entry.post)
        let enqueued = index.posts[Int(entry.post)].enqueued
        let delivery = index.deliveryOfEntry[Int(number)]
        switch entry.stage {
        case .deliver:
            let waited = delivery < 0 || index.deliveries[Int(delivery)].append >= 0 || entry.name < 0
            kind = waited || origin >= 0 && index.entry(origin).thread != entry.thread ? .delivery : .atOnce
        case .post, .dequeue:
            kind = entry.stage == .post ? .queued : .lost
            origin = enqueued
        case .coalesce, .drop, .cancel, .targetGone:
            kind = .lost
            // A notification that never left its posting queue: the arrow begins at its `enqueue`.
            if delivery < 0 { origin = enqueued }
        case .register, .remove, .enqueue, .capture, .append, .signal, .dropSignal, .drain, .return, .skip, .wait,
            .waitEnd, .refuseWait, .threadEnd, .count, .log, .processStart, .processEnd, .fork, .lost, .end:
            return nil
        }
        guard origin >= 0, origin < number else { return nil }
        let start = index.entry(origin)
        arrows.append(
            Timeline.Arrow(
                kind: kind, fromLane: Int(start.thread), from: selection.elapsed(start),
                fromDepth: index.depth(of: origin), toLane: Int(entry.thread),
                to: selection.elapsed(entry)))
        return arrows.count - 1
    }

    private mutating func label(of entry: Recording.Entry) -> Timeline.Label {
        var label = Timeline.Label(what: entry.stage.rawValue, line: Int(entry.line))
        label.name = recording.name(of: entry)
        if entry.post >= 0 {
            label.post = "#\(recording.posts[Int(entry.post)].number)"
            if label.name == nil { label.name = "block" }
        }
        if entry.stage == .append { label.what = "perform" }
        if entry.observer >= 0 {
            label.details.append("observer \(recording.observers[Int(entry.observer)].number)")
        }
        switch entry.stage {
        case .post, .capture, .enqueue, .append:
            label.isUnobserved = entry.count == 0
            if entry.count > 1 { label.details.append("to \(entry.count) observers") }
            label.waiting = waiting(entry)
        case .remove:
            if entry.count > 0 { label.details.append("\(counted(Int(entry.count), "handler")) of it run") }
        case .register:
            if entry.name < 0 { label.name = "any name" }
        case .lost:
            label.details.append(counted(Int(max(0, entry.count)), "record"))
        default: break
        }
        if entry.target >= 0, entry.target != entry.thread {
            label.details.append("for \(recording.describeThread(entry.target))")
        }
        if entry.relatedPost >= 0, entry.relatedPost != entry.post {
            let word = entry.stage == .capture ? "of" : "by"
            label.details.append("\(word) #\(recording.posts[Int(entry.relatedPost)].number)")
        }
        if let details = recording.details(of: entry) { label.details.append(details) }
        label.location = recording.place(of: entry)
        return label
    }

    /// The number of deliveries of a post that have no outcome. Counts them for the threads that they wait for.
    private mutating func waiting(_ entry: Recording.Entry) -> Int {
        guard entry.post >= 0 else { return 0 }
        if entry.stage == .enqueue {
            guard index.posts[Int(entry.post)].queueOutcome < 0 else { return 0 }
            if entry.target >= 0 { waiting[Int(entry.target), default: 0] += 1 }
            return 1
        }
        for number in index.deliveries(ofPost: entry.post) where index.deliveries[number].isPending {
            let mailbox = index.mailbox(of: index.deliveries[number])
            if mailbox >= 0 { waiting[Int(mailbox), default: 0] += 1 }
        }
        return index.pendingCount(ofPost: entry.post)
    }

    // MARK: Lanes

    private func laidOut() -> Timeline {
        let isUsed = Set(items.map(\.lane)).union(arrows.map(\.fromLane))
        let threads = isUsed.sorted { one, other in
            let (one, other) = (recording.threads[one], recording.threads[other])
            return (one.process, one.identity.number) < (other.process, other.identity.number)
        }
        var laneOfThread = [Int](repeating: -1, count: recording.threads.count)
        for (lane, thread) in threads.enumerated() { laneOfThread[thread] = lane }
        var timeline = Timeline(
            source: recording.source, records: recording.entries.count, begin: 0, end: 0,
            lanes: threads.map { lane(of: $0) }, items: items, arrows: arrows, rows: rows,
            leftOut: leftOut)
        timeline.mapLanes { laneOfThread[$0] }
        let first = rows.first.map { timeline.time(of: $0) } ?? 0
        let from = selection.times.lowerBound
        timeline.begin = items.contains { $0.begin < from } ? min(first, from) : first
        timeline.end = rows.reduce(timeline.begin) { end, row in
            if case .whole(let item) = row { max(end, items[item].end) } else { max(end, timeline.time(of: row)) }
        }
        return timeline
    }

    private func lane(of thread: Int) -> Timeline.Lane {
        let ends = [index.threads[thread].end, index.processes[Int(recording.threads[thread].process)].end]
        func time(_ entry: Int32) -> Int64 { entry < 0 ? .max : selection.elapsed(index.entry(entry)) }
        // A thread without a recorded end may live on.
        let life = (begin: time(index.threads[thread].first), end: ends.map(time).min() ?? .max)
        let identity = recording.threads[thread].identity
        let process = recording.processes[Int(recording.threads[thread].process)]
        return Timeline.Lane(
            title: recording.describeThread(Int32(thread)),
            details: "thread \(identity.number) \(identity.name ?? "(no name)"), kernel id \(identity.kernelID), "
                + "of \(process.name) \(process.id)",
            begin: life.begin, end: life.end, waiting: waiting[thread] ?? 0)
    }
}
