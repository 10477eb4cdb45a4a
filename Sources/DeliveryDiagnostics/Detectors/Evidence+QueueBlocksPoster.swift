internal import DeliveryRecording

/// A thread's wait for a handler of an operation queue, or for its begin.
private struct WaitForQueue {
    let post: Int32
    let poster: Int32
    /// The observers whose handlers it may wait for: several if it is not known which one is next.
    let observers: [Int32]
    let time: UInt64
    /// The `deliver`; -1 if the handler did not begin.
    var delivered: Int32 = -1
    var end: Int32 = -1
    var isEndless: Bool { end < 0 }
}

/// Posts to a Foundation center that waited for a handler of an operation queue: `addObserver(queue:)` lets the poster
/// wait until the queue has run the handler. If the queue waits for the poster, neither continues.
extension Evidence {
    /// For ever is a problem. Otherwise it is one if the main thread waited for ten times its budget, or another thread
    /// for longer than a stall; a note if it was longer than the budget.
    var queuesThatBlockPosters: [Finding] {
        guard recording.foundationDetails.contains(where: { $0.queue != nil }) else { return [] }
        let budget = limits.mainBudget.nanoseconds
        return (waitsForQueues + endlessWaitsForQueues).filter { $0.time > ($0.isEndless ? stall : budget) }
            .grouped { [$0.observers[0], $0.poster] }.map { waits in
                let wait = waits.reduce(waits[0]) {
                    ($1.isEndless ? 1 : 0, $1.time) > ($0.isEndless ? 1 : 0, $0.time) ? $1 : $0
                }
                let limit = index.isMain(wait.poster) ? budget * Self.farOver : stall
                let isMainQueue = wait.observers.allSatisfy { foundation(of: $0)?.queue == "main" }
                let queue = isMainQueue ? "the main queue" : "its operation queue"
                let (name, time, isOne) = (index.name(ofPost: wait.post), ElapsedTime.text(wait.time), waits.count == 1)
                let handlers = wait.observers.map { words.observer($0, name: name) }
                let handler = handlers.count == 1 ? handlers[0] : "one of \(handlers.count) candidates"
                let posted = "\(words.thread(wait.poster)) posted \(words.name(name)) and"
                let candidates = zip(wait.observers, handlers).map { "candidate: \($1)\(added($0))" }
                return Finding(
                    severity: wait.isEndless || wait.time > limit ? .problem : .note,
                    problem: wait.isEndless
                        ? "\(posted) has waited since then, \(time) until the recording ends, for the handler of "
                            + "\(handler), which \(queue) did not \(wait.delivered < 0 ? "begin" : "finish")."
                        : "\(posted) waited \(isOne ? "" : "up to ")\(time) for the handler of \(handler) on \(queue)"
                            + (isOne ? "." : ", \(words.times(waits.count)) too long."),
                    evidence: [
                        words.registered(wait.observers[0]), index.posts[Int(wait.post)].posted,
                        wait.delivered >= 0 ? wait.delivered : wait.end,
                    ], details: handlers.count == 1 ? [] : candidates,
                    remedy: "On Linux, a post waits for the handlers of addObserver(forName:object:queue:), and for "
                        + "everything that their queue runs before. Observe with ThreadedNotificationCenter, whose posts "
                        + "do not wait, or without a queue, and add an operation to the queue in the handler.",
                    weight: Int(clamping: wait.time), name: name, thread: wait.isEndless ? wait.poster : -1)
            }
    }

    /// The waits for handlers that began. A center calls handlers one after another, so the wait begins when the
    /// handler before has returned.
    private var waitsForQueues: [WaitForQueue] {
        /// For each post: the end of the last handler.
        var lastEnds: [Int32: Int32] = [:]
        return index.spans.compactMap { span -> WaitForQueue? in
            let entry = index.entry(span.begin)
            guard !span.isWait, entry.isFoundation, words.posted(entry) >= 0 else { return nil }
            let post = index.posts[Int(entry.post)]
            let begin = lastEnds[entry.post] ?? post.posted
            let end = span.ending == .returned ? span.end : post.returned
            lastEnds[entry.post] = end >= 0 ? end : span.begin
            let poster = index.entry(post.posted).thread
            guard foundation(of: entry.observer)?.queue != nil, entry.thread != poster else { return nil }
            return WaitForQueue(
                post: entry.post, poster: poster, observers: [entry.observer],
                time: end >= 0 ? index.time(from: begin, to: end) : timeToEnd(begin), delivered: span.begin, end: end)
        }
    }

    /// The posts that did not return, although no handler runs.
    private var endlessWaitsForQueues: [WaitForQueue] {
        zip(Int32(0)..., index.posts).compactMap { number, post -> WaitForQueue? in
            guard post.isUnfinished, case let posted = index.entry(post.posted), posted.isFoundation,
                !index.deliveries(ofPost: number).map({ index.deliveries[$0].span }).contains(where: { span in
                    span >= 0 && index.spans[Int(span)].ending != .returned
                }), case let last = index.threads[Int(posted.thread)].last, last >= 0, index.entry(last).post == number
            else { return nil }
            let observers = index.couldHaveMatched(number).filter { foundation(of: $0)?.queue != nil }
            guard !observers.isEmpty else { return nil }
            return WaitForQueue(post: number, poster: posted.thread, observers: observers, time: timeToEnd(last))
        }
    }
}
