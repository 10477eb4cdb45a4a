package import DeliveryRecording
internal import ThreadedNotifications

/// Writes a recording as JSON in Chrome's trace event format, which https://ui.perfetto.dev can open.
///
/// Slices: a post or a drain lasts until the last record that belongs to it; a handler lasts from `deliver` to
/// `return`; a wait lasts from `wait` to `waitEnd`. Slices of one thread nest: a slice ends at the latest with the
/// slice that contains it.
/// Flows: from post through append to deliver, and from enqueue to post. Each end of a flow directly follows the
/// beginning of its slice, because viewers attach it to the slice that began last.
/// Counters: the depth of each mailbox and posting queue.
/// Order: times ascend on each thread and in each counter.
package struct ChromeTrace {
    private enum Kind {
        /// Ends with the next record.
        case moment
        /// Ends with the last record that belongs to it.
        case post
        case drain
        /// Ends with a record of its own.
        case lasting
    }

    private struct Slice {
        let kind: Kind
        /// The record at which it begins.
        let number: Int32
        let post: Int32
        let begin: UInt64
        /// The time of the last record that belongs to it.
        var end: UInt64?
    }

    private struct Thread {
        /// Its open slices, the innermost last.
        var slices: [Slice] = []
        /// Records after the beginning of its innermost slice. They may turn out to be after its end.
        var instants: [Int32] = []
        /// The number of notifications in its mailbox, and in posting queues for it.
        var mailbox = 0
        var queue = 0
    }

    private var text: TraceText
    private let recording: Recording
    private let index: RecordingIndex
    private let selection: RecordingSelection
    private let start: UInt64
    private var threads: [Thread]

    /// The duration of a slice without a recorded end, unless its thread has an earlier record. It makes the slice
    /// visible and gives arrows a place to begin and end.
    private static let momentNanoseconds: UInt64 = 1000

    private init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        self.index = index
        self.selection = selection
        recording = index.recording
        text = TraceText(index)
        start = recording.entries.first?.time ?? 0
        threads = Array(repeating: Thread(), count: recording.threads.count)
    }

    /// - Parameters:
    ///   - selection: the records to write; by default all.
    ///   - progress: called from time to time with the number of records written.
    ///   - write: called with consecutive parts of the text, about 65,536 bytes each.
    /// - Returns: the number of events.
    @discardableResult
    package static func write(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, progress: (Int) -> Void = { _ in },
        to write: ([UInt8]) throws -> Void
    ) rethrows -> Int {
        var trace = ChromeTrace(index, selection ?? RecordingSelection(all: index.recording))
        for number in index.recording.entries.indices {
            trace.add(Int32(number))
            guard trace.text.bytes.count >= 65_536 else { continue }
            progress(number)
            try write(trace.text.bytes)
            trace.text.bytes.removeAll(keepingCapacity: true)
        }
        trace.end()
        try write(trace.text.bytes)
        return trace.text.count
    }

    /// Times of a recording ascend, so no time is before the first.
    private func time(_ entry: Recording.Entry) -> UInt64 { entry.time - start }

    private mutating func add(_ number: Int32) {
        let entry = recording.entries[Int(number)]
        guard isSelected(entry, number) else { return }
        let thread = Int(entry.thread)
        if threads[thread].slices.last?.kind == .moment { close(thread, at: time(entry)) }
        switch entry.stage {
        case .enqueue, .post:
            open(.post, entry, number, in: entry.post)
        case .capture where index.posted(number) < 0:
            open(.post, entry, number, in: entry.relatedPost)
        case .append, .capture:
            open(.moment, entry, number, in: entry.post)
        case .drain:
            open(.drain, entry, number, in: -1)
        case .deliver:
            let isDrained = index.waitBegin(number) >= 0
            let span = index.spans[Int(index.spanOfEntry[Int(number)])]
            let kind = span.ending == .notRecorded ? Kind.moment : .lasting
            open(kind, entry, number, in: entry.post, isDrained: isDrained)
        case .wait:
            open(.lasting, entry, number, in: -1)
        case .return where index.partner(of: number) >= 0, .waitEnd where index.partner(of: number) >= 0:
            let begin = index.partner(of: number)
            while let slice = threads[thread].slices.last {
                close(thread, at: time(entry), isRecorded: slice.number == begin)
                if slice.number == begin { break }
            }
        case .threadEnd:
            closeAll(thread, at: time(entry))
            show(entry, number)
        case .postEnd where isInPost(entry.post, thread):
            threads[thread].slices[threads[thread].slices.count - 1].end = time(entry)
        default:
            show(entry, number)
        }
        count(entry, number)
    }

    /// Ends the slices that are open at the end of the recording, and the text.
    private mutating func end() {
        let last = recording.entries.last.map(time) ?? 0
        for thread in threads.indices { closeAll(thread, at: max(last, last &+ Self.momentNanoseconds)) }
        text.end()
    }

    /// The end of a handler or wait is shown with its beginning.
    private func isSelected(_ entry: Recording.Entry, _ number: Int32) -> Bool {
        guard entry.stage == .return || entry.stage == .waitEnd else { return selection.contains(entry) }
        let begin = index.partner(of: number)
        return selection.contains(begin < 0 ? entry : index.entry(begin))
    }

    /// True if the innermost slice of a thread is a post.
    private func isInPost(_ post: Int32, _ thread: Int) -> Bool {
        threads[thread].slices.last.map { $0.kind == .post && $0.post == post } ?? false
    }

    // MARK: Slices

    /// Opens a slice after closing the posts and drains that it does not belong to.
    private mutating func open(
        _ kind: Kind, _ entry: Recording.Entry, _ number: Int32, in post: Int32, isDrained: Bool = false
    ) {
        let (thread, now) = (Int(entry.thread), time(entry))
        while let slice = threads[thread].slices.last, slice.kind != .lasting {
            if slice.kind == .post, !isDrained, post >= 0, slice.post == post { break }
            if slice.kind == .drain, isDrained { break }
            close(thread, at: now)
        }
        showInstants(thread, until: now)
        threads[thread].slices.append(Slice(kind: kind, number: number, post: entry.post, begin: now))
        text.begin(number, at: now)
        addFlows(of: entry, number, at: now)
    }

    private mutating func addFlows(of entry: Recording.Entry, _ number: Int32, at now: UInt64) {
        let thread = Int(entry.thread)
        let (isOfPost, outcome, begun) = (index.posted(number) >= 0, index.waitEnd(number), index.waitBegin(number))
        let outcomeStage = outcome < 0 ? nil : index.entry(outcome).stage
        let delivery = index.deliveryOfEntry[Int(number)]
        let isFlow = delivery >= 0 && flow(of: index.deliveries[Int(delivery)]) == number
        switch entry.stage {
        case .enqueue:
            if outcomeStage == .post { text.flow(.start, outcome, thread, at: now) }
        case .append where isFlow,
            .capture where isFlow && isOfPost:
            let isDelivered = outcomeStage == .deliver
            if isOfPost {
                text.flow(isDelivered ? .step : .end, number, thread, at: now)
            } else if isDelivered {
                text.flow(.start, number, thread, at: now)
            }
        case .deliver:
            if begun >= 0 || isFlow && isOfPost { text.flow(.end, begun >= 0 ? begun : number, thread, at: now) }
        case .post, .capture:
            if begun >= 0, entry.stage == .post { text.flow(.end, number, thread, at: now) }
            guard entry.post >= 0, index.posts[Int(entry.post)].posted == number else { return }
            for delivery in index.deliveries(ofPost: entry.post) {
                let id = flow(of: index.deliveries[delivery])
                if id > number, selection.contains(index.entry(id)) { text.flow(.start, id, thread, at: now) }
            }
        default: break
        }
    }

    /// The record that identifies the flow of a delivery: where it begins to wait or, if it does not wait, where its
    /// handler begins; -1 if there is none.
    private func flow(of delivery: RecordingIndex.Delivery) -> Int32 {
        if delivery.append >= 0, delivery.append != index.posts[Int(delivery.post)].posted { return delivery.append }
        return delivery.outcome >= 0 && index.entry(delivery.outcome).stage == .deliver ? delivery.outcome : -1
    }

    /// Adds an event without a duration.
    private mutating func show(_ entry: Recording.Entry, _ number: Int32) {
        let thread = Int(entry.thread)
        guard let slice = threads[thread].slices.last, slice.kind != .lasting else {
            return text.instant(number, at: time(entry))
        }
        threads[thread].instants.append(number)
        guard slice.kind == .post else { return }
        if entry.stage == .signal || entry.stage == .dropSignal || entry.post >= 0 && entry.post == slice.post {
            showInstants(thread, until: time(entry))
            threads[thread].slices[threads[thread].slices.count - 1].end = time(entry)
        }
    }

    private mutating func showInstants(_ thread: Int, until end: UInt64) {
        guard !threads[thread].instants.isEmpty else { return }
        let shown = threads[thread].instants.prefix { time(index.entry($0)) <= end }
        for number in shown { text.instant(number, at: time(index.entry(number))) }
        threads[thread].instants.removeFirst(shown.count)
    }

    /// - Parameter isRecorded: false if the slice should have a record of its end but has none.
    private mutating func close(_ thread: Int, at now: UInt64, isRecorded: Bool = true) {
        guard let slice = threads[thread].slices.popLast() else { return }
        let isLasting = slice.kind == .lasting
        let end = isLasting ? now : slice.end ?? slice.begin + min(now - slice.begin, Self.momentNanoseconds)
        showInstants(thread, until: end)
        text.end(thread, at: end, isRecorded: !isLasting || isRecorded)
        guard let outer = threads[thread].slices.indices.last else { return showInstants(thread, until: .max) }
        threads[thread].slices[outer].end = max(threads[thread].slices[outer].end ?? 0, end)
        if threads[thread].slices[outer].kind == .lasting { showInstants(thread, until: .max) }
    }

    private mutating func closeAll(_ thread: Int, at now: UInt64) {
        while !threads[thread].slices.isEmpty { close(thread, at: now, isRecorded: false) }
    }

    private mutating func count(_ entry: Recording.Entry, _ number: Int32) {
        let now = time(entry)
        if entry.stage == .enqueue, entry.post >= 0 { change(queue(entry), isOfQueue: true, by: 1, at: now) }
        change(index.mailbox(number), isOfQueue: false, by: 1, at: now)
        let begun = index.waitBegin(number)
        guard begun >= 0, selection.contains(index.entry(begun)) else { return }
        let isOfQueue = index.entry(begun).stage == .enqueue
        let thread = isOfQueue ? queue(index.entry(begun)) : index.mailbox(begun)
        change(thread, isOfQueue: isOfQueue, by: -1, at: now)
    }

    private mutating func change(_ thread: Int32, isOfQueue: Bool, by difference: Int, at now: UInt64) {
        guard thread >= 0 else { return }
        if isOfQueue { threads[Int(thread)].queue += difference } else { threads[Int(thread)].mailbox += difference }
        let value = isOfQueue ? threads[Int(thread)].queue : threads[Int(thread)].mailbox
        text.counter(Int(thread), isOfQueue: isOfQueue, value, at: now)
    }

    private func queue(_ enqueue: Recording.Entry) -> Int32 { enqueue.target < 0 ? enqueue.thread : enqueue.target }
}
