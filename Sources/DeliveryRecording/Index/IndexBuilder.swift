internal import ThreadedNotifications

/// Builds an index: one pass for what later records refer to, and one for deliveries and spans.
struct IndexBuilder {
    private let recording: Recording
    /// For each process: whether handlers without an observer have `return` records.
    private var recordsReturns: [Bool]
    /// For each process: its threads.
    private var threadsOfProcess: [[Int]]
    /// For each thread: the spans that it is in, the innermost last, and the number of waits among them.
    private var stacks: [[Int32]]
    private var waits: [Int]
    /// For each thread: the posts that it may still be making, and the number of spans that it was in when each began.
    private var making: [[(post: Int32, depth: Int)]]
    /// For each thread: its last record.
    private var lastOfThread: [Int32]
    /// By post: deliveries of the document's technique after the first, of observers that are not told apart.
    private var alsoRedirected: [Int32: [Int32]] = [:]

    init(_ recording: Recording) {
        self.recording = recording
        recordsReturns = Array(repeating: false, count: recording.processes.count)
        threadsOfProcess = Array(repeating: [], count: recording.processes.count)
        for (index, thread) in recording.threads.enumerated() { threadsOfProcess[Int(thread.process)].append(index) }
        stacks = Array(repeating: [], count: recording.threads.count)
        waits = Array(repeating: 0, count: recording.threads.count)
        making = Array(repeating: [], count: recording.threads.count)
        lastOfThread = Array(repeating: -1, count: recording.threads.count)
    }

    mutating func build(_ index: inout RecordingIndex) {
        for number in recording.entries.indices { note(recording.entries[number], Int32(number), &index) }
        index.deliveries.reserveCapacity(recording.entries.count / 4)
        index.spans.reserveCapacity(recording.entries.count / 4)
        for number in recording.entries.indices { link(recording.entries[number], Int32(number), &index) }
        for post in making.joined() { index.posts[Int(post.post)].isUnfinished = true }
        for post in index.posts.indices where isUnfinishedInFoundation(index.posts[post]) {
            index.posts[post].isUnfinished = true
        }
        chainDeliveries(&index)
    }

    // MARK: First pass

    private mutating func note(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        let (thread, process) = (Int(entry.thread), recording.process(of: entry))
        index.before[Int(number)] = lastOfThread[thread]
        lastOfThread[thread] = number
        if index.threads[thread].first < 0 { index.threads[thread].first = number }
        if entry.target >= 0, index.threads[Int(entry.target)].first < 0 {
            index.threads[Int(entry.target)].first = number
        }
        // `end` is recorded by the process, not by the thread's own work.
        if entry.stage != .end, entry.isThreadKnown { index.threads[thread].last = number }
        index.processes[process].last = number
        switch entry.stage {
        case .post, .capture:
            if entry.post >= 0, index.posts[Int(entry.post)].posted < 0 {
                index.posts[Int(entry.post)].posted = number
            }
            index.addToHistory(entry, number)
        case .enqueue:
            index.recordsOfStage[.enqueue, default: []].append(number)
            if entry.post >= 0 { index.posts[Int(entry.post)].enqueued = number }
        case .register:
            index.recordsOfStage[.register, default: []].append(number)
            index.addToHistory(entry, number)
            if entry.observer >= 0, index.observers[Int(entry.observer)].registered < 0 {
                index.observers[Int(entry.observer)].registered = number
            }
        case .remove:
            index.recordsOfStage[.remove, default: []].append(number)
            guard entry.observer >= 0 else { break }
            if entry.reason == .alreadyRemoved {
                if index.observers[Int(entry.observer)].removedAgain < 0 {
                    index.observers[Int(entry.observer)].removedAgain = number
                }
            } else if index.observers[Int(entry.observer)].removed < 0 {
                index.observers[Int(entry.observer)].removed = number
            }
        case .postEnd:
            if entry.post >= 0, index.posts[Int(entry.post)].returned < 0 {
                index.posts[Int(entry.post)].returned = number
            }
        case .threadEnd: index.threads[thread].end = number
        case .return: if entry.observer < 0, entry.name >= 0 { recordsReturns[process] = true }
        case .end, .processEnd: index.processes[process].end = number
        case .signal, .dropSignal, .drain, .wait, .refuseWait, .fork, .lost:
            index.recordsOfStage[entry.stage, default: []].append(number)
        default: break
        }
    }

    // MARK: Second pass

    private mutating func link(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        let thread = Int(entry.thread)
        index.spanAroundEntry[Int(number)] = stacks[thread].last ?? -1
        switch entry.stage {
        case .register:
            if entry.observer < 0 { index.redirectingThreads[nameKey(entry)] = entry.thread }
            endPosts(thread, depth: stacks[thread].count)
        case .enqueue:
            setCause(of: entry, &index)
            endPosts(thread, depth: stacks[thread].count)
        case .post, .capture:
            linkPost(entry, number, &index)
        case .dequeue:
            resolveInQueue(entry, number, &index)
        case .append:
            if entry.observer < 0 { setCause(of: entry, &index) }
            guard let delivery = delivery(of: entry, &index) else { break }
            index.deliveryOfEntry[Int(number)] = delivery
            if index.deliveries[Int(delivery)].append < 0 { index.deliveries[Int(delivery)].append = number }
        case .skip:
            guard let delivery = delivery(of: entry, &index) else { break }
            index.deliveryOfEntry[Int(number)] = delivery
            index.deliveries[Int(delivery)].skip = number
        case .coalesce, .drop, .cancel, .targetGone:
            let isOfQueue =
                entry.observer < 0 && (entry.name >= 0 || entry.post >= 0 && index.posts[Int(entry.post)].enqueued >= 0)
            if isOfQueue { resolveInQueue(entry, number, &index) } else { resolve(entry, number, &index) }
        case .deliver:
            resolve(entry, number, &index)
            begin(entry, number, &index)
        case .wait:
            begin(entry, number, &index)
        case .return:
            endHandler(entry, number, &index)
            endPosts(thread, depth: stacks[thread].count + 1)
        case .postEnd:
            endPosts(thread, depth: stacks[thread].count)
        case .waitEnd:
            endWait(entry, number, &index)
        case .threadEnd:
            making[thread] = []
            close(thread, with: number, ending: .abandoned, &index)
        case .end, .processEnd:
            // A signal, or `_exit` on another thread, can end the process in the middle of a post. Every other end
            // happens between posts or in a handler.
            if entry.stage == .end, entry.isThreadKnown, entry.reason?.isSignal != true {
                endPosts(thread, depth: stacks[thread].count)
            }
            for thread in threadsOfProcess[recording.process(of: entry)] {
                close(thread, with: number, ending: .open, &index)
            }
        default: break
        }
    }

    private func isUnfinishedInFoundation(_ post: RecordingIndex.Post) -> Bool {
        post.posted >= 0 && post.returned < 0 && recording.entries[Int(post.posted)].isFoundation
    }

    private func nameKey(_ entry: Recording.Entry) -> UInt64 {
        RecordingIndex.key(Int32(recording.process(of: entry)), entry.name)
    }

    /// Called when a thread records something while it is in `depth` spans: its posts that began at this depth or
    /// deeper are complete.
    private mutating func endPosts(_ thread: Int, depth: Int) {
        while let last = making[thread].last, last.depth >= depth { making[thread].removeLast() }
    }

    private mutating func linkPost(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        setCause(of: entry, &index)
        guard entry.post >= 0 else { return }
        let thread = Int(entry.thread)
        let depth = stacks[thread].count
        endPosts(thread, depth: depth)
        if entry.count > 0, !entry.isFoundation { making[thread].append((entry.post, depth)) }
        if entry.stage == .post, index.posts[Int(entry.post)].enqueued >= 0 { resolveInQueue(entry, number, &index) }
        guard entry.count < 0, entry.name >= 0, !entry.isFoundation,
            entry.stage == .capture || index.redirectingThreads[nameKey(entry)] != nil
        else {
            return
        }
        var delivery = delivery(entry.post, -1, .redirected, &index)
        if entry.stage == .capture {
            if index.deliveries[Int(delivery)].append >= 0 {
                delivery = addDelivery(entry.post, -1, .redirected, &index)
                alsoRedirected[entry.post, default: []].append(delivery)
            }
            index.deliveries[Int(delivery)].append = number
        }
        index.deliveryOfEntry[Int(number)] = delivery
    }

    private func setCause(of entry: Recording.Entry, _ index: inout RecordingIndex) {
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
    private func delivery(of entry: Recording.Entry, _ index: inout RecordingIndex) -> Int32? {
        guard entry.post >= 0 else { return nil }
        return delivery(
            entry.post, entry.observer, entry.observer >= 0 ? .observed : entry.name < 0 ? .block : .redirected, &index)
    }

    private func delivery(
        _ post: Int32, _ observer: Int32, _ kind: RecordingIndex.Delivery.Kind, _ index: inout RecordingIndex
    ) -> Int32 {
        let known = index.delivery(post, observer)
        if known >= 0 { return known }
        let delivery = addDelivery(post, observer, kind, &index)
        if index.posts[Int(post)].firstDelivery < 0 {
            index.posts[Int(post)].firstDelivery = delivery
        } else {
            index.deliveryOfKey[RecordingIndex.key(post, observer)] = delivery
        }
        return delivery
    }

    private func addDelivery(
        _ post: Int32, _ observer: Int32, _ kind: RecordingIndex.Delivery.Kind, _ index: inout RecordingIndex
    ) -> Int32 {
        index.deliveries.append(RecordingIndex.Delivery(post: post, observer: observer, kind: kind))
        index.posts[Int(post)].deliveryCount += 1
        return Int32(index.deliveries.count - 1)
    }

    private mutating func resolve(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        guard var delivery = delivery(of: entry, &index) else {
            if entry.observer >= 0 { index.observers[Int(entry.observer)].earlier += 1 }
            return
        }
        if index.deliveries[Int(delivery)].outcome >= 0, entry.observer < 0,
            let another = alsoRedirected[entry.post]?.popLast()
        {
            delivery = another
        }
        index.deliveryOfEntry[Int(number)] = delivery
        if index.deliveries[Int(delivery)].outcome < 0 {
            index.deliveries[Int(delivery)].outcome = number
        } else if index.deliveries[Int(delivery)].secondOutcome < 0 {
            index.deliveries[Int(delivery)].secondOutcome = number
        }
    }

    private func resolveInQueue(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        guard entry.post >= 0 else { return }
        let post = index.posts[Int(entry.post)]
        if post.enqueued < 0 {
            index.strayQueueOutcomes.append(number)
        } else if post.queueOutcome < 0 {
            index.posts[Int(entry.post)].queueOutcome = number
        } else if post.secondQueueOutcome < 0 {
            index.posts[Int(entry.post)].secondQueueOutcome = number
        }
    }

    private func chainDeliveries(_ index: inout RecordingIndex) {
        var next = Array(repeating: Int32(-1), count: index.posts.count)
        for number in index.deliveries.indices.reversed() {
            let post = Int(index.deliveries[number].post)
            index.deliveries[number].next = next[post]
            next[post] = Int32(number)
        }
    }

    // MARK: Spans

    private mutating func begin(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        let (thread, isWait) = (Int(entry.thread), entry.stage == .wait)
        let span = Int32(index.spans.count)
        let delivery = isWait ? -1 : index.deliveryOfEntry[Int(number)]
        // Without a `return` record, the handler would seem to contain everything that follows.
        let endIsRecorded =
            isWait
            || !entry.isAsyncHandlerOfFoundation
                && (entry.observer >= 0 || entry.name < 0 || recordsReturns[recording.process(of: entry)])
        index.spans.append(
            RecordingIndex.Span(
                begin: number, outer: stacks[thread].last ?? -1, delivery: delivery, thread: entry.thread,
                depth: Int32(stacks[thread].count), isWait: isWait, ending: endIsRecorded ? .open : .notRecorded))
        index.spanOfEntry[Int(number)] = span
        if delivery >= 0 { index.deliveries[Int(delivery)].span = span }
        guard endIsRecorded else { return }
        stacks[thread].append(span)
        if isWait { waits[thread] += 1 }
    }

    private mutating func endHandler(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        let thread = Int(entry.thread)
        var span: Int32 = -1
        if entry.post < 0 {
            // The search for the handler of an unknown post is limited.
            span =
                stacks[thread].suffix(16).last { span in
                    let begin = index.entry(index.spans[Int(span)].begin)
                    return begin.stage == .deliver && begin.post < 0 && begin.observer == entry.observer
                } ?? -1
        } else if let last = stacks[thread].last, isHandler(last, of: entry, index) {
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
        end(span, with: number, &index)
    }

    private func isHandler(_ span: Int32, of entry: Recording.Entry, _ index: RecordingIndex) -> Bool {
        let begin = index.entry(index.spans[Int(span)].begin)
        return begin.stage == .deliver && begin.post == entry.post && begin.observer == entry.observer
    }

    /// Ends the innermost wait.
    private mutating func endWait(_ entry: Recording.Entry, _ number: Int32, _ index: inout RecordingIndex) {
        let thread = Int(entry.thread)
        guard waits[thread] > 0, let wait = stacks[thread].last(where: { index.spans[Int($0)].isWait }) else { return }
        end(wait, with: number, &index)
    }

    /// Ends a span of the thread, and those in it, which have no record of their end.
    private mutating func end(_ span: Int32, with number: Int32, _ index: inout RecordingIndex) {
        let thread = Int(index.spans[Int(span)].thread)
        while let last = stacks[thread].popLast() {
            if index.spans[Int(last)].isWait { waits[thread] -= 1 }
            index.spans[Int(last)].end = number
            index.spans[Int(last)].ending = last == span ? .returned : .abandoned
            if last == span { break }
        }
        index.spanOfEntry[Int(number)] = span
    }

    private mutating func close(
        _ thread: Int, with number: Int32, ending: RecordingIndex.Span.Ending, _ index: inout RecordingIndex
    ) {
        for span in stacks[thread] {
            index.spans[Int(span)].end = number
            index.spans[Int(span)].ending = ending
        }
        stacks[thread].removeAll()
        waits[thread] = 0
    }
}
