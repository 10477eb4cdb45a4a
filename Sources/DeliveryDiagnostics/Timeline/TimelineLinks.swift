internal import DeliveryRecording

/// Links between the records of a recording: posts and their origins, handlers and their returns.
struct TimelineLinks {
    /// A handler call or a wait.
    struct Span {
        /// The record of its beginning.
        var entry: Int32
        var begin: Int64
        var end: Int64
        var ending: Timeline.Slice.Ending
        var depth: Int32
    }

    /// The times of a thread's first record and of its end.
    struct Life {
        var begin: Int64 = .max
        var end: Int64 = .max
    }

    /// The data of a post.
    private struct Post {
        var origin: Int32 = -1
        var enqueue: Int32 = -1
        var name: Int32 = -1
        /// The numbers of deliveries according to the post, to its captures, and to its appends.
        var matched: Int32 = -1
        var captured: Int32 = 0
        var appended: Int32 = 0
        /// True if something was appended for the appending thread itself.
        var appendedHere = false
        /// The target of its appends; -2 if there are several targets.
        var target: Int32 = -1
        /// The number of its outcomes.
        var outcomes: Int32 = 0
        /// True if it has left its posting queue.
        var leftQueue = false
    }

    private let entries: [Recording.Entry]
    private let start: UInt64
    private var posts: [Post]
    private(set) var spans: [Span] = []
    /// Index in `spans` of the span that the record begins or ends, or -1.
    private(set) var spanOfEntry: [Int32]
    /// The number of spans of its thread that contain the record.
    private(set) var depthOfEntry: [Int32]
    /// For each thread.
    private(set) var lives: [Life]

    init(_ recording: Recording) {
        entries = recording.entries
        start = entries.first?.time ?? 0
        posts = Array(repeating: Post(), count: recording.posts.count)
        spanOfEntry = Array(repeating: -1, count: entries.count)
        depthOfEntry = Array(repeating: 0, count: entries.count)
        lives = Array(repeating: Life(), count: recording.threads.count)
        var ended = Set<Int32>()
        var running = [[Int32]](repeating: [], count: recording.threads.count)
        for (index, entry) in entries.enumerated() {
            note(entry, at: index)
            nest(entry, at: index, in: &running[Int(entry.thread)])
            guard entry.stage == .processEnd || entry.stage == .end else { continue }
            // A process ends all its threads. A second end of the same process has no effect.
            let process = recording.threads[Int(entry.thread)].process
            guard ended.insert(process).inserted else { continue }
            let time = time(of: entry)
            for thread in recording.threads.indices where recording.threads[thread].process == process {
                lives[thread].end = min(lives[thread].end, time)
                for span in running[thread] { spans[Int(span)].end = time }
                running[thread].removeAll()
            }
        }
        let end = entries.last.map { time(of: $0) } ?? 0
        for stack in running { for span in stack { spans[Int(span)].end = end } }
    }

    /// Nanoseconds since the first record. Times of a damaged file are limited so that sums do not overflow.
    func time(of entry: Recording.Entry) -> Int64 {
        Int64(min(entry.time &- start, UInt64(Int64.max / 4)))
    }

    // MARK: Posts

    private mutating func note(_ entry: Recording.Entry, at index: Int) {
        let time = time(of: entry)
        for thread in [entry.thread, entry.target] where thread >= 0 {
            lives[Int(thread)].begin = min(lives[Int(thread)].begin, time)
        }
        // A thread without a recorded end may live on.
        if entry.stage == .threadEnd { lives[Int(entry.thread)].end = time }
        guard entry.post >= 0 else { return }
        let post = Int(entry.post)
        if posts[post].name < 0 { posts[post].name = entry.name }
        let isOfQueue = entry.observer < 0 && entry.name >= 0
        switch entry.stage {
        case .enqueue:
            posts[post].enqueue = Int32(index)
        case .post:
            setOrigin(of: post, to: index)
            posts[post].leftQueue = true
            if entry.count >= 0 { posts[post].matched = max(0, posts[post].matched) + entry.count }
        case .capture:
            setOrigin(of: post, to: index)
            if entry.count >= 0 { posts[post].matched = max(0, posts[post].matched) + entry.count }
            posts[post].captured += 1
        case .append:
            setOrigin(of: post, to: index)
            posts[post].appended += 1
            posts[post].target = posts[post].target == -1 || posts[post].target == entry.target ? entry.target : -2
            if entry.target == entry.thread { posts[post].appendedHere = true }
        case .deliver, .skip:
            posts[post].outcomes += 1
        case .coalesce, .drop, .cancel, .targetGone:
            if isOfQueue { posts[post].leftQueue = true } else { posts[post].outcomes += 1 }
        case .dequeue:
            posts[post].leftQueue = true
        case .register, .remove, .signal, .dropSignal, .drain, .return, .wait, .waitEnd, .refuseWait, .threadEnd,
            .count,
            .log, .processStart, .processEnd, .fork, .lost, .end:
            break
        }
    }

    private mutating func setOrigin(of post: Int, to index: Int) {
        if posts[post].origin < 0 { posts[post].origin = Int32(index) }
    }

    /// The record at which its arrows begin.
    func origin(of post: Int32) -> Int? {
        let origin = posts[Int(post)].origin
        return origin < 0 ? nil : Int(origin)
    }

    /// The `enqueue` record of a posting queue.
    func enqueue(of post: Int32) -> Int? {
        let enqueue = posts[Int(post)].enqueue
        return enqueue < 0 ? nil : Int(enqueue)
    }

    /// Index in the recording's strings, or -1.
    func name(ofPost post: Int32) -> Int32 { posts[Int(post)].name }

    /// True if a delivery did not go through a mailbox.
    func isAtOnce(_ delivery: Recording.Entry) -> Bool {
        let post = posts[Int(delivery.post)]
        guard post.origin >= 0, !post.appendedHere, delivery.name >= 0 else { return false }
        return entries[Int(post.origin)].thread == delivery.thread && (post.captured == 0 || delivery.observer >= 0)
    }

    /// The number of deliveries of a post that have no outcome.
    func waiting(of entry: Recording.Entry) -> Int {
        guard entry.post >= 0 else { return 0 }
        let post = posts[Int(entry.post)]
        if entry.stage == .enqueue { return post.leftQueue ? 0 : 1 }
        let expected = post.matched >= 0 ? post.matched : max(post.captured, post.appended)
        return max(0, Int(expected) - Int(post.outcomes))
    }

    /// The thread that the deliveries wait for, if there is only one.
    func target(of entry: Recording.Entry) -> Int? {
        let target = entry.stage == .enqueue ? entry.target : posts[Int(entry.post)].target
        return target < 0 ? nil : Int(target)
    }

    // MARK: Spans

    private mutating func nest(_ entry: Recording.Entry, at index: Int, in running: inout [Int32]) {
        let time = time(of: entry)
        depthOfEntry[index] = Int32(running.count)
        switch entry.stage {
        case .deliver, .wait:
            spanOfEntry[index] = Int32(spans.count)
            // The document's technique has no observers and does not record when a handler returns.
            let endIsRecorded = entry.stage == .wait || entry.observer >= 0 || entry.name < 0
            if endIsRecorded { running.append(Int32(spans.count)) }
            spans.append(
                Span(
                    entry: Int32(index), begin: time, end: time, ending: endIsRecorded ? .runsOn : .isNotRecorded,
                    depth: depthOfEntry[index]))
        case .return, .waitEnd:
            let begin = running.lastIndex { isEnd(entry, of: entries[Int(spans[Int($0)].entry)]) }
            guard let begin else { return }
            // Spans inside it without a recorded end are over too.
            for span in running[begin...] { spans[Int(span)].end = time }
            spans[Int(running[begin])].ending = .returned
            spanOfEntry[index] = running[begin]
            running.removeSubrange(begin...)
        case .threadEnd:
            for span in running { spans[Int(span)].end = time }
            running.removeAll()
        case .register, .remove, .enqueue, .dequeue, .post, .capture, .append, .signal, .dropSignal, .drain, .coalesce,
            .drop, .cancel, .targetGone, .skip, .refuseWait, .count, .log, .processStart, .processEnd, .fork, .lost,
            .end:
            break
        }
    }

    private func isEnd(_ end: Recording.Entry, of begin: Recording.Entry) -> Bool {
        if end.stage == .waitEnd { return begin.stage == .wait }
        return begin.stage == .deliver && begin.post == end.post && begin.observer == end.observer
    }
}
