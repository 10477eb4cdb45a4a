package import DeliveryRecording
internal import ThreadedNotifications

/// The layout of a drawing of a recording's threads: a lane for each thread, a row for each event and for each end of a
/// handler or wait, and arrows from posts to what became of them.
///
/// It is computed once. `TimelineText` and `TimelinePicture` both draw it. Times are nanoseconds since the recording's
/// first record.
package struct Timeline: Sendable {
    /// A record, or several similar ones in succession.
    struct Row: Sendable {
        enum Part: Sendable {
            case begin, end
            /// An event without a duration, or a handler or wait with nothing drawn between its begin and its end.
            case whole
        }

        let entry: Int32
        /// The last record of the row.
        var last: Int32
        var part: Part
        let mark: TimelineMark
        /// The handler or wait, in `index.spans`; -1 if there is none.
        let span: Int32
        /// The number of handlers and waits of its thread that contain it.
        let depth: Int
        /// The record at which its arrow begins; -1 if it has none.
        let arrow: Int32
        /// The number of the post's deliveries that are still pending at the end.
        let waiting: Int
        var count = 1
    }

    let index: RecordingIndex
    private let selection: RecordingSelection
    /// Why this part is drawn, if the user did not select it.
    let window: FindingWindow?
    private(set) var rows: [Row] = []
    /// The time of the first row that exceeds the limit.
    private(set) var limitReached: Int64?
    /// Handlers and waits that began before the first row, and had not ended.
    private(set) var earlier: [Int32] = []
    /// In the order of processes and thread numbers. The thread of the lane of all others is -1.
    private(set) var lanes: [(title: String, thread: Int32)] = []
    private var laneOfThread: [Int32: Int] = [:]
    /// The number of similar rows at the end.
    private var similar = 0

    var recording: Recording { index.recording }

    /// - Parameters:
    ///   - limit: the maximum number of rows. Four or more similar consecutive rows are one.
    ///   - lanes: the maximum number of lanes. The last one is that of all other threads.
    package init(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, limit: Int = .max, lanes maximum: Int = 24,
        window: FindingWindow? = nil
    ) {
        (self.index, self.window) = (index, window)
        self.selection = selection ?? RecordingSelection(all: index)
        for (number, entry) in zip(Int32(0)..., index.recording.entries) where self.selection.contains(entry) {
            if !add(number, entry, limit: limit) { break }
        }
        let (first, spans) = (rows.first?.entry ?? 0, index.spans)
        earlier = spans.indices.map(Int32.init).filter { number in
            let span = spans[Int(number)]
            return span.begin < first && (span.end < 0 || span.end >= first) && isDrawn(number)
        }
        let records = rows.map(\.entry) + rows.map(\.arrow).filter { $0 >= 0 } + earlier.map { spans[Int($0)].begin }
        let threads = recording.ordered(Set(records.map { Int(index.entry($0).thread) })).map(Int32.init)
        lanes = threads.prefix(maximum).map { (recording.describeThread($0), $0) }
        if threads.count > maximum {
            lanes[maximum - 1] = ("\(threads.count - maximum + 1) others", -1)
        }
        for (lane, thread) in threads.enumerated() { laneOfThread[thread] = min(lane, maximum - 1) }
    }

    // MARK: Rows

    /// - Returns: false if it would be a row beyond the limit.
    private mutating func add(_ number: Int32, _ entry: Recording.Entry, limit: Int) -> Bool {
        let span = index.spanOfEntry[Int(number)]
        let isEnd = entry.stage == .return || entry.stage == .waitEnd
        if isEnd, let last = rows.indices.last, rows[last].part == .begin, rows[last].span == span {
            (rows[last].part, rows[last].last) = (.whole, number)
            fold()
        } else if isEnd ? span >= 0 : hasRow(entry, number) {
            guard rows.count < limit else {
                limitReached = time(number)
                return false
            }
            let part: Row.Part = isEnd ? .end : isOpen(span) ? .begin : .whole
            let (mark, spans) = (TimelineMark(entry.stage), index.spans)
            let depth = mark == .end ? 0 : span < 0 ? index.depth(of: number) : Int(spans[Int(span)].depth)
            rows.append(
                Row(
                    entry: number, last: number, part: part, mark: mark, span: span, depth: depth,
                    arrow: origin(entry, number), waiting: waiting(entry)))
            if part == .whole { fold() }
        }
        return true
    }

    /// True if the end of a handler or wait was recorded, or that of its thread or process.
    private func isOpen(_ span: Int32) -> Bool { span >= 0 && index.spans[Int(span)].ending != .notRecorded }

    private func hasRow(_ entry: Recording.Entry, _ number: Int32) -> Bool {
        switch entry.stage {
        case .signal, .dropSignal, .drain, .postEnd: false
        // The append for an observer is part of its delivery. The append of a block is where its arrow begins.
        case .append: entry.post >= 0 && index.origin(ofPost: entry.post) == number
        // The document's observer captures a post; the two are drawn as one.
        case .capture: entry.post < 0 || index.origin(ofPost: entry.post) == number
        default: true
        }
    }

    /// The record of the post or of the `enqueue` that led to a record, or -1.
    private func origin(_ entry: Recording.Entry, _ number: Int32) -> Int32 {
        guard entry.post >= 0 else { return -1 }
        let (post, origin) = (index.posts[Int(entry.post)], index.origin(ofPost: entry.post))
        let begin: Int32 =
            switch entry.stage {
            case .deliver: origin
            case .post: post.enqueued
            case .capture: post.sentBy < 0 ? -1 : index.posts[Int(post.sentBy)].posted
            // A notification may never leave its posting queue.
            case .dequeue, .coalesce, .drop, .cancel, .targetGone:
                index.deliveryOfEntry[Int(number)] < 0 ? post.enqueued : origin
            default: -1
            }
        return begin < number ? begin : -1
    }

    private func waiting(_ entry: Recording.Entry) -> Int {
        switch TimelineMark(entry.stage) {
        case .post where entry.post >= 0: index.pendingCount(ofPost: entry.post)
        case .enqueue where entry.post >= 0 && index.posts[Int(entry.post)].queueOutcome < 0: 1
        default: 0
        }
    }

    /// Makes one row of four or more similar ones at the end. Up to three are easy to read, and show more.
    private mutating func fold() {
        let count = rows.count
        similar = count > 1 && areSimilar(rows[count - 2], rows[count - 1]) ? similar + 1 : 1
        guard similar > 3 else { return }
        let first = count - (similar == 4 ? 4 : 2)
        for row in rows[(first + 1)...] {
            (rows[first].last, rows[first].count) = (row.last, rows[first].count + row.count)
        }
        rows.removeSubrange((first + 1)...)
    }

    /// True if two rows differ only in their times and posts.
    private func areSimilar(_ one: Row, _ other: Row) -> Bool {
        func pattern(_ row: Row) -> Recording.Entry {
            var entry = index.entry(row.entry)
            (entry.time, entry.line, entry.post, entry.relatedPost) = (0, 0, min(entry.post, 0), -1)
            return entry
        }
        func sender(_ row: Row) -> Int32 { row.arrow < 0 ? -1 : index.entry(row.arrow).thread }
        return one.part == .whole && other.part == .whole && one.depth == other.depth && one.waiting == other.waiting
            && sender(one) == sender(other) && pattern(one) == pattern(other)
    }
}

extension Timeline {
    func time(_ record: Int32) -> Int64 { selection.elapsed(index.entry(record)) }

    func lane(_ record: Int32) -> Int { laneOfThread[index.entry(record).thread] ?? 0 }

    /// True for a handler or wait that is selected and has a duration.
    func isDrawn(_ span: Int32) -> Bool {
        isOpen(span) && selection.matches(index.entry(index.spans[Int(span)].begin))
    }
}

extension Recording {
    /// Threads in the order of processes and thread numbers.
    func ordered(_ indices: some Sequence<Int>) -> [Int] {
        indices.sorted {
            (threads[$0].process, threads[$0].identity.number) < (threads[$1].process, threads[$1].identity.number)
        }
    }
}
