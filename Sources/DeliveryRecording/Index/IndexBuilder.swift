internal import ThreadedNotifications

/// Builds an index: one pass for what later records refer to, and one for deliveries and spans.
struct IndexBuilder {
    private let recording: Recording
    private var index: RecordingIndex
    /// For each process: its threads.
    private var threadsOfProcess: [[Int]]
    /// For each thread: the spans that it is in, the innermost last.
    private var stacks: [[Int32]]
    /// For each thread: the posts that it may still be making, and the number of spans that it was in when each began.
    private var making: [[(post: Int32, depth: Int)]]
    /// For each thread: its last record.
    private var lastOfThread: [Int32]
    /// By `recording.origins`: the post of the poster.
    private var postOfOrigin: [Int32: Int32] = [:]

    init(_ recording: Recording) {
        self.recording = recording
        index = RecordingIndex(empty: recording)
        threadsOfProcess = Array(repeating: [], count: recording.processes.count)
        for (index, thread) in recording.threads.enumerated() { threadsOfProcess[Int(thread.process)].append(index) }
        stacks = Array(repeating: [], count: recording.threads.count)
        making = Array(repeating: [], count: recording.threads.count)
        lastOfThread = Array(repeating: -1, count: recording.threads.count)
    }

    mutating func build() -> RecordingIndex {
        for number in recording.entries.indices { note(recording.entries[number], Int32(number)) }
        index.deliveries.reserveCapacity(recording.entries.count / 4)
        index.spans.reserveCapacity(recording.entries.count / 4)
        for number in recording.entries.indices { link(recording.entries[number], Int32(number)) }
        for post in making.joined() { index.posts[Int(post.post)].isUnfinished = true }
        for (number, post) in index.posts.enumerated() where post.posted >= 0 && post.returned < 0 {
            if recording.entries[Int(post.posted)].isFoundation { index.posts[number].isUnfinished = true }
        }
        chainDeliveries()
        return index
    }

    // MARK: First pass

    private mutating func note(_ entry: Recording.Entry, _ number: Int32) {
        let (thread, process) = (Int(entry.thread), recording.process(of: entry))
        index.before[Int(number)] = lastOfThread[thread]
        lastOfThread[thread] = number
        index.threads[thread].first.keep(number)
        if entry.target >= 0 { index.threads[Int(entry.target)].first.keep(number) }
        // `end` is recorded by the process, not by the thread's own work.
        if entry.stage != .end, entry.isThreadKnown { index.threads[thread].last = number }
        index.processes[process].last = number
        let (post, observer) = (Int(entry.post), Int(entry.observer))
        switch entry.stage {
        case .post, .capture:
            if post >= 0 { index.posts[post].posted.keep(number) }
            joinProcesses(entry)
            index.addToHistory(entry, number)
        case .enqueue: if post >= 0 { index.posts[post].enqueued = number }
        case .register:
            index.addToHistory(entry, number)
            if observer >= 0 { index.observers[observer].registered.keep(number) }
        case .remove where observer >= 0 && entry.reason != .alreadyRemoved:
            index.observers[observer].removed.keep(number)
        case .postEnd: if post >= 0 { index.posts[post].returned.keep(number) }
        case .threadEnd: index.threads[thread].end = number
        case .end, .processEnd: index.processes[process].end = number
        default: break
        }
        switch entry.stage {
        case .register, .remove, .enqueue, .signal, .dropSignal, .drain, .wait, .refuseWait, .fork, .lost:
            index.recordsOfStage[entry.stage, default: []].append(number)
        default: break
        }
    }

    /// Joins a notification from another process with its post there, which was recorded before it was sent.
    private mutating func joinProcesses(_ entry: Recording.Entry) {
        guard let origin = recording.origins[entry.post] else { return }
        if entry.stage == .post {
            postOfOrigin[origin] = entry.post
        } else if let sender = postOfOrigin[origin], index.posts[Int(entry.post)].sentBy < 0 {
            index.posts[Int(entry.post)].sentBy = sender
            index.posts[Int(sender)].receptions += 1
        }
    }

    // MARK: Second pass

    private mutating func link(_ entry: Recording.Entry, _ number: Int32) {
        let thread = Int(entry.thread)
        index.spanAroundEntry[Int(number)] = stacks[thread].last ?? -1
        switch entry.stage {
        case .register, .postEnd:
            endPosts(thread, depth: stacks[thread].count)
        case .enqueue:
            setCause(of: entry)
            endPosts(thread, depth: stacks[thread].count)
        case .post, .capture:
            linkPost(entry, number)
        case .dequeue:
            resolveInQueue(entry, number)
        case .append:
            if entry.observer < 0 { setCause(of: entry) }
            guard let delivery = delivery(of: entry) else { break }
            index.deliveryOfEntry[Int(number)] = delivery
            index.deliveries[Int(delivery)].append.keep(number)
        case .skip:
            guard let delivery = delivery(of: entry) else { break }
            index.deliveryOfEntry[Int(number)] = delivery
            index.deliveries[Int(delivery)].skip = number
        case .coalesce, .drop, .cancel, .targetGone:
            let isOfQueue =
                entry.observer < 0 && (entry.name >= 0 || entry.post >= 0 && index.posts[Int(entry.post)].enqueued >= 0)
            if isOfQueue { resolveInQueue(entry, number) } else { resolve(entry, number) }
        case .deliver:
            resolve(entry, number)
            begin(entry, number)
        case .wait:
            begin(entry, number)
        case .return:
            endHandler(entry, number)
            endPosts(thread, depth: stacks[thread].count + 1)
        case .waitEnd:
            // The innermost wait.
            if let wait = stacks[thread].last(where: { index.spans[Int($0)].isWait }) { end(wait, with: number) }
        case .threadEnd:
            making[thread] = []
            close(thread, with: number, ending: .abandoned)
        case .end, .processEnd:
            // A signal, or `_exit` on another thread, can end the process in the middle of a post. Every other end
            // happens between posts or in a handler.
            if entry.stage == .end, entry.isThreadKnown, entry.reason?.isSignal != true {
                endPosts(thread, depth: stacks[thread].count)
            }
            for thread in threadsOfProcess[recording.process(of: entry)] {
                close(thread, with: number, ending: .open)
            }
        default: break
        }
    }

    /// Called when a thread records something while it is in `depth` spans: its posts that began at this depth or
    /// deeper are complete.
    private mutating func endPosts(_ thread: Int, depth: Int) {
        while let last = making[thread].last, last.depth >= depth { making[thread].removeLast() }
    }

    private mutating func linkPost(_ entry: Recording.Entry, _ number: Int32) {
        setCause(of: entry)
        guard entry.post >= 0 else { return }
        let thread = Int(entry.thread)
        let depth = stacks[thread].count
        endPosts(thread, depth: depth)
        if entry.count > 0, !entry.isFoundation { making[thread].append((entry.post, depth)) }
        if entry.stage == .post, index.posts[Int(entry.post)].enqueued >= 0 { resolveInQueue(entry, number) }
    }

    private mutating func setCause(of entry: Recording.Entry) {
        guard entry.post >= 0, index.posts[Int(entry.post)].cause < 0 else { return }
        if entry.relatedPost >= 0, index.posts[Int(entry.relatedPost)].enqueued >= 0 {
            // The cause is the handler that enqueued it, not the one during which the queue posts it.
            index.posts[Int(entry.post)].cause = index.posts[Int(entry.relatedPost)].cause
        } else if entry.stage != .post || index.posts[Int(entry.post)].enqueued < 0 {
            index.posts[Int(entry.post)].cause = index.handler(stacks[Int(entry.thread)].last ?? -1)
        }
    }

    // MARK: Deliveries

    /// The delivery of an entry; nil if its post is unknown.
    private mutating func delivery(of entry: Recording.Entry) -> Int32? {
        let (post, observer) = (entry.post, entry.observer)
        guard post >= 0 else { return nil }
        let known = index.delivery(post, observer)
        if known >= 0 { return known }
        let delivery = Int32(index.deliveries.count)
        index.deliveries.append(
            RecordingIndex.Delivery(post: post, observer: observer, isBlock: observer < 0 && entry.name < 0))
        index.posts[Int(post)].deliveryCount += 1
        if index.posts[Int(post)].firstDelivery < 0 {
            index.posts[Int(post)].firstDelivery = delivery
        } else {
            index.deliveryOfKey[RecordingIndex.key(post, observer)] = delivery
        }
        return delivery
    }

    private mutating func resolve(_ entry: Recording.Entry, _ number: Int32) {
        guard let delivery = delivery(of: entry) else {
            if entry.observer >= 0 { index.observers[Int(entry.observer)].earlier += 1 }
            return
        }
        index.deliveryOfEntry[Int(number)] = delivery
        if !index.deliveries[Int(delivery)].outcome.keep(number) {
            index.deliveries[Int(delivery)].secondOutcome.keep(number)
        }
    }

    private mutating func resolveInQueue(_ entry: Recording.Entry, _ number: Int32) {
        guard entry.post >= 0 else { return }
        let post = Int(entry.post)
        if index.posts[post].enqueued < 0 { return index.strayQueueOutcomes.append(number) }
        if !index.posts[post].queueOutcome.keep(number) { index.posts[post].secondQueueOutcome.keep(number) }
    }

    private mutating func chainDeliveries() {
        var next = Array(repeating: Int32(-1), count: index.posts.count)
        for number in index.deliveries.indices.reversed() {
            let post = Int(index.deliveries[number].post)
            index.deliveries[number].next = next[post]
            next[post] = Int32(number)
        }
    }

    // MARK: Spans

    private mutating func begin(_ entry: Recording.Entry, _ number: Int32) {
        let (thread, isWait) = (Int(entry.thread), entry.stage == .wait)
        let span = Int32(index.spans.count)
        let delivery = isWait ? -1 : index.deliveryOfEntry[Int(number)]
        // It may return on another thread, and would seem to contain everything that follows here.
        let endIsRecorded = isWait || !entry.isAsyncHandlerOfFoundation
        index.spans.append(
            RecordingIndex.Span(
                begin: number, outer: stacks[thread].last ?? -1, delivery: delivery, thread: entry.thread,
                depth: Int32(stacks[thread].count), isWait: isWait, ending: endIsRecorded ? .open : .notRecorded))
        index.spanOfEntry[Int(number)] = span
        if delivery >= 0 { index.deliveries[Int(delivery)].span = span }
        guard endIsRecorded else { return }
        stacks[thread].append(span)
    }

    private mutating func endHandler(_ entry: Recording.Entry, _ number: Int32) {
        let thread = Int(entry.thread)
        var span: Int32 = -1
        if entry.post < 0 {
            // The search for the handler of an unknown post is limited.
            span =
                stacks[thread].suffix(16).last { span in
                    let begin = index.entry(index.spans[Int(span)].begin)
                    return begin.stage == .deliver && begin.post < 0 && begin.observer == entry.observer
                } ?? -1
        } else if let last = stacks[thread].last, isHandler(last, of: entry) {
            span = last
        } else {
            let delivery = index.delivery(entry.post, entry.observer)
            if delivery >= 0 { span = index.deliveries[Int(delivery)].span }
        }
        guard span >= 0, index.spans[Int(span)].thread == entry.thread, index.spans[Int(span)].ending == .open,
            index.spans[Int(span)].end < 0
        else {
            if entry.post >= 0 { index.strayReturns.append(number) }
            return
        }
        end(span, with: number)
    }

    private func isHandler(_ span: Int32, of entry: Recording.Entry) -> Bool {
        let begin = index.entry(index.spans[Int(span)].begin)
        return begin.stage == .deliver && begin.post == entry.post && begin.observer == entry.observer
    }

    /// Ends a span of the thread, and those in it, which have no record of their end.
    private mutating func end(_ span: Int32, with number: Int32) {
        let thread = Int(index.spans[Int(span)].thread)
        while let last = stacks[thread].popLast() {
            index.spans[Int(last)].end = number
            index.spans[Int(last)].ending = last == span ? .returned : .abandoned
            if last == span { break }
        }
        index.spanOfEntry[Int(number)] = span
    }

    private mutating func close(
        _ thread: Int, with number: Int32, ending: RecordingIndex.Span.Ending
    ) {
        for span in stacks[thread] {
            index.spans[Int(span)].end = number
            index.spans[Int(span)].ending = ending
        }
        stacks[thread].removeAll()
    }
}

extension Int32 {
    /// Becomes the number of a record, unless it is one already.
    @discardableResult
    fileprivate mutating func keep(_ number: Int32) -> Bool {
        guard self < 0 else { return false }
        self = number
        return true
    }
}
