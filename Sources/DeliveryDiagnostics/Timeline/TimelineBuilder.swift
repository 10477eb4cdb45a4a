internal import DeliveryRecording
internal import ThreadedNotifications

/// Builds a timeline: first links related records of the whole recording, then selects the part to draw.
struct TimelineBuilder {
    private let recording: Recording
    private let selection: TimelineSelection
    private let links: TimelineLinks
    private let isSelectedPost: [Bool]?
    private let selectedName: Int32?
    private var rows: [Timeline.Row] = []
    private var slices: [Timeline.Slice] = []
    private var marks: [Timeline.Mark] = []
    private var runs: [Timeline.Run] = []
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

    /// For each drawn span: its index in `slices`.
    private var sliceOfSpan: [Int: Int] = [:]

    init(_ recording: Recording, selection: TimelineSelection) {
        self.recording = recording
        self.selection = selection
        links = TimelineLinks(recording)
        isSelectedPost = selection.post.map { Self.posts(numbered: $0, of: recording) }
        // An unknown name selects nothing.
        selectedName = selection.name.map { name in
            recording.strings.firstIndex(of: name).map { Int32($0) } ?? Int32(recording.strings.count)
        }
    }

    private static func posts(numbered number: Int, of recording: Recording) -> [Bool] {
        var isSelected = recording.posts.map { $0.number == number }
        for entry in recording.entries where entry.stage == .capture && entry.post >= 0 && entry.relatedPost >= 0 {
            if isSelected[Int(entry.relatedPost)] { isSelected[Int(entry.post)] = true }
        }
        return isSelected
    }

    func timeline() -> Timeline {
        var builder = self
        builder.build()
        return builder.laidOut()
    }

    // MARK: Rows

    private mutating func build() {
        for (index, entry) in recording.entries.enumerated() {
            guard Self.isDrawn(entry, at: index, links) else {
                if !Self.isPart(entry) { leftOut.undrawn[entry.stage, default: 0] += 1 }
                continue
            }
            let time = links.time(of: entry)
            let span = links.spanOfEntry[index]
            if !isSelected(entry) {
                leftOut.filtered += 1
            } else if time < selection.from {
                leftOut.before += 1
                // A span that began earlier but has not ended is drawn.
                if span >= 0, entry.stage != .return, entry.stage != .waitEnd,
                    links.spans[Int(span)].end >= selection.from
                {
                    _ = addSlice(Int(span))
                }
            } else if time > selection.to {
                leftOut.after += 1
            } else if entry.stage == .return || entry.stage == .waitEnd {
                addEnd(of: Int(span), at: time)
            } else if isFull {
                leaveOut(at: time)
            } else if span >= 0 {
                addBegin(of: Int(span))
            } else {
                addMark(entry, at: index)
            }
        }
    }

    private mutating func addEnd(of span: Int, at time: Int64) {
        // The beginning may be beyond the limit.
        guard let slice = sliceOfSpan[span] else { return leaveOut(at: time) }
        if case .begins(slice)? = rows.last {
            rows[rows.count - 1] = .lasts(slice)
            foldLastRow()
        } else if isFull {
            leaveOut(at: time)
        } else {
            rows.append(.ends(slice))
        }
    }

    private mutating func addBegin(of span: Int) {
        let slice = addSlice(span)
        if slices[slice].ending == .isNotRecorded {
            rows.append(.lasts(slice))
            foldLastRow()
        } else {
            // When it returns, it may be folded into the rows before it.
            rows.append(.begins(slice))
        }
    }

    /// True if no row may be added. Once a row was left out, none is added again, even if folding reduces their number.
    private var isFull: Bool {
        leftOut.beyondLimit > 0 || selection.limit.map { rows.count >= $0 } ?? false
    }

    // MARK: Runs

    /// Folds the last row into the similar rows before it.
    private mutating func foldLastRow() {
        guard selection.foldsRuns, let last = rows.last, let similarity = similarity(of: last) else { return }
        let isSimilar = similarity == lastSimilarity && lastSimilarityRow == rows.count - 2
        similarRows = isSimilar ? similarRows + 1 : 1
        (lastSimilarity, lastSimilarityRow) = (similarity, rows.count - 1)
        if similarRows == Self.minimumRun {
            let members = (0..<Self.minimumRun).map { _ in takeLastRow() }
            var (run, arrow) = members[Self.minimumRun - 1]
            if let arrow {
                run.arrow = arrows.count
                arrows.append(arrow)
            }
            for member in members.dropLast().reversed() { run.append(member.run) }
            rows.append(.run(runs.count))
            runs.append(run)
        } else if similarRows > Self.minimumRun {
            runs[runs.count - 1].append(takeLastRow().run)
        }
        lastSimilarityRow = rows.count - 1
    }

    /// Nil if the row is always drawn by itself.
    private func similarity(of row: Timeline.Row) -> Similarity? {
        let (lane, stage, depth, label, arrow): (Int, DeliveryStage, Int, Timeline.Label, Int?)
        switch row {
        case .mark(let index):
            let mark = marks[index]
            (lane, stage, depth, label, arrow) = (mark.lane, mark.stage, mark.depth, mark.label, mark.arrow)
        case .lasts(let index):
            let slice = slices[index]
            guard slice.kind == .handler else { return nil }
            (lane, stage, depth, label, arrow) = (slice.lane, .deliver, slice.depth, slice.label, slice.arrow)
        case .begins, .ends, .run: return nil
        }
        switch stage {
        case .register, .remove, .enqueue, .dequeue, .post, .capture, .append, .deliver, .coalesce, .drop, .cancel,
            .targetGone, .skip:
            break
        // Their messages differ.
        case .signal, .dropSignal, .drain, .return, .wait, .waitEnd, .refuseWait, .threadEnd, .count, .log,
            .processStart, .processEnd, .fork, .lost, .end:
            return nil
        }
        return Similarity(
            lane: lane, stage: stage, name: label.name, depth: depth, arrowKind: arrow.map { arrows[$0].kind },
            fromLane: arrow.map { arrows[$0].fromLane }, isUnobserved: label.isUnobserved, isWaiting: label.waiting > 0)
    }

    /// Removes the last row and its slice or mark and arrow, which are the last of their kind too.
    private mutating func takeLastRow() -> (run: Timeline.Run, arrow: Timeline.Arrow?) {
        var run: Timeline.Run
        let arrow: Int?
        switch rows.removeLast() {
        case .mark:
            let mark = marks.removeLast()
            arrow = mark.arrow
            run = Timeline.Run(
                lane: mark.lane, stage: mark.stage, begin: mark.time, end: mark.time, count: 1, depth: mark.depth,
                label: mark.label)
        case .begins, .ends, .lasts, .run:
            let slice = slices.removeLast()
            arrow = slice.arrow
            run = Timeline.Run(
                lane: slice.lane, stage: .deliver, begin: slice.begin, end: slice.end, count: 1, depth: slice.depth,
                label: slice.label)
            run.longest = slice.end - slice.begin
        }
        run.lastPost = run.label.post
        guard arrow != nil else { return (run, nil) }
        let taken = arrows.removeLast()
        run.latency = taken.latency...taken.latency
        return (run, taken)
    }

    private mutating func leaveOut(at time: Int64) {
        if leftOut.beyondLimit == 0 { leftOut.limitReached = time }
        leftOut.beyondLimit += 1
    }

    /// True if the record has a row of its own.
    private static func isDrawn(_ entry: Recording.Entry, at index: Int, _ links: TimelineLinks) -> Bool {
        switch entry.stage {
        case .signal, .dropSignal, .drain: false
        // The append for an observer is part of its delivery. The append of a block is where its arrow begins.
        case .append: entry.post >= 0 && links.origin(of: entry.post) == index
        // The document's observer captures a post; the two are drawn as one.
        case .capture: entry.post < 0 || links.origin(of: entry.post) == index
        case .return, .waitEnd: links.spanOfEntry[index] >= 0
        case .register, .remove, .enqueue, .dequeue, .post, .deliver, .coalesce, .drop, .cancel, .targetGone, .skip,
            .wait,
            .refuseWait, .threadEnd, .count, .log, .processStart, .processEnd, .fork, .lost, .end:
            true
        }
    }

    /// True if the record is part of something else that is drawn.
    private static func isPart(_ entry: Recording.Entry) -> Bool {
        entry.stage == .append || entry.stage == .capture
    }

    private func isSelected(_ entry: Recording.Entry) -> Bool {
        if let selectedName {
            let name = entry.name < 0 && entry.post >= 0 ? links.name(ofPost: entry.post) : entry.name
            guard name == selectedName else { return false }
        }
        if let isSelectedPost {
            let posts = [entry.post, entry.relatedPost]
            guard posts.contains(where: { $0 >= 0 && isSelectedPost[Int($0)] }) else { return false }
        }
        return true
    }

    // MARK: Slices, marks and arrows

    /// Lanes hold thread indices until all lanes are known.
    private mutating func addSlice(_ index: Int) -> Int {
        let span = links.spans[index]
        let entry = recording.entries[Int(span.entry)]
        let isWait = entry.stage == .wait
        sliceOfSpan[index] = slices.count
        slices.append(
            Timeline.Slice(
                lane: Int(entry.thread), kind: isWait ? .wait : .handler, begin: span.begin, end: span.end,
                ending: span.ending, depth: Int(span.depth), label: label(of: entry, at: Int(span.entry)),
                arrow: isWait ? nil : addArrow(to: entry, at: Int(span.entry))))
        return slices.count - 1
    }

    private mutating func addMark(_ entry: Recording.Entry, at index: Int) {
        rows.append(.mark(marks.count))
        defer { foldLastRow() }
        let label = label(of: entry, at: index)
        if label.waiting > 0, let target = links.target(of: entry) { waiting[target, default: 0] += label.waiting }
        marks.append(
            Timeline.Mark(
                lane: Int(entry.thread), time: links.time(of: entry), stage: entry.stage,
                depth: Int(links.depthOfEntry[index]), label: label, arrow: addArrow(to: entry, at: index)))
    }

    private mutating func addArrow(to entry: Recording.Entry, at index: Int) -> Int? {
        guard entry.post >= 0 else { return nil }
        let kind: Timeline.Arrow.Kind
        var origin = links.origin(of: entry.post)
        switch entry.stage {
        case .deliver:
            kind = links.isAtOnce(entry) ? .atOnce : .delivery
        case .post, .dequeue:
            kind = entry.stage == .post ? .queued : .lost
            origin = links.enqueue(of: entry.post)
        case .coalesce, .drop, .cancel, .targetGone:
            kind = .lost
            // An enqueued notification that was never posted: the arrow begins at its `enqueue`.
            if entry.observer < 0, entry.name >= 0 { origin = links.enqueue(of: entry.post) }
        case .register, .remove, .enqueue, .capture, .append, .signal, .dropSignal, .drain, .return, .skip, .wait,
            .waitEnd, .refuseWait, .threadEnd, .count, .log, .processStart, .processEnd, .fork, .lost, .end:
            return nil
        }
        guard let origin, origin < index else { return nil }
        let start = recording.entries[origin]
        arrows.append(
            Timeline.Arrow(
                kind: kind, fromLane: Int(start.thread), from: links.time(of: start),
                fromDepth: Int(links.depthOfEntry[origin]), toLane: Int(entry.thread),
                to: links.time(of: entry)))
        return arrows.count - 1
    }

    private func label(of entry: Recording.Entry, at index: Int) -> Timeline.Label {
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
            label.waiting = links.waiting(of: entry)
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

    // MARK: Lanes

    private func laidOut() -> Timeline {
        var isUsed = Set(slices.map(\.lane)).union(marks.map(\.lane)).union(runs.map(\.lane))
        isUsed.formUnion(arrows.map(\.fromLane))
        let threads = isUsed.sorted { one, other in
            let (one, other) = (recording.threads[one], recording.threads[other])
            return (one.process, one.identity.number) < (other.process, other.identity.number)
        }
        var laneOfThread = [Int](repeating: -1, count: recording.threads.count)
        for (lane, thread) in threads.enumerated() { laneOfThread[thread] = lane }
        var timeline = Timeline(
            source: recording.source, records: recording.entries.count, begin: 0, end: 0,
            lanes: threads.map { lane(of: $0) }, slices: slices, marks: marks, runs: runs, arrows: arrows, rows: rows,
            leftOut: leftOut)
        timeline.mapLanes { laneOfThread[$0] }
        let first = rows.first.map { timeline.time(of: $0) } ?? 0
        timeline.begin = slices.contains { $0.begin < selection.from } ? min(first, selection.from) : first
        timeline.end = rows.reduce(timeline.begin) { end, row in
            switch row {
            case .lasts(let slice): max(end, slices[slice].end)
            case .run(let run): max(end, runs[run].end)
            case .begins, .ends, .mark: max(end, timeline.time(of: row))
            }
        }
        return timeline
    }

    private func lane(of thread: Int) -> Timeline.Lane {
        let identity = recording.threads[thread].identity
        let process = recording.processes[Int(recording.threads[thread].process)]
        return Timeline.Lane(
            title: recording.describeThread(Int32(thread)),
            details: "thread \(identity.number) \(identity.name ?? "(no name)"), kernel id \(identity.kernelID), "
                + "of \(process.name) \(process.id)",
            begin: links.lives[thread].begin, end: links.lives[thread].end, waiting: waiting[thread] ?? 0)
    }
}
