internal import DeliveryRecording

/// A thread's wait for a handler of an operation queue, of one of some observers: its post, the `deliver`, and the
/// record that ended the wait; -1 for what did not happen.
private typealias WaitForQueue = (post: Int32, observers: [Int32], time: UInt64, delivered: Int32, end: Int32)

/// Posts to a Foundation center that waited for a handler of an operation queue: `addObserver(queue:)` lets the poster
/// wait until the queue has run the handler. If the queue waits for the poster, neither continues.
extension Evidence {
    /// For ever is a problem. Otherwise it is one if the main thread waited for ten times its budget, or another thread
    /// for longer than a stall; a note if it was longer than the budget.
    var queuesThatBlockPosters: [Finding] {
        guard recording.foundationDetails.contains(where: { $0.queue != nil }) else { return [] }
        let budget = limits.mainBudget.nanoseconds
        func poster(_ wait: WaitForQueue) -> Int32 { index.entry(index.posts[Int(wait.post)].posted).thread }
        return (waitsForQueues + endlessWaitsForQueues).filter { $0.time > ($0.end < 0 ? stall : budget) }
            .grouped { [$0.observers[0], poster($0), $0.end < 0 ? 1 : 0] }.map { waits in
                let wait = waits.reduce(waits[0]) { $1.time > $0.time ? $1 : $0 }
                let (poster, name, isEndless) = (poster(wait), index.name(ofPost: wait.post), wait.end < 0)
                let limit = index.isMain(poster) ? budget * Self.farOver : stall
                let handler =
                    wait.observers.count == 1
                    ? words.observer(wait.observers[0], name: name) : "one of \(wait.observers.count) observers"
                return Finding(
                    severity: isEndless || wait.time > limit ? .problem : .note,
                    problem: "\(words.thread(poster)) posted \(words.name(name)) and waited for the operation queue of "
                        + "\(handler) \(isEndless ? "until the recording ended, for" : "for up to") "
                        + "\(ElapsedTime.text(wait.time)).",
                    evidence: [
                        words.registered(wait.observers[0]), index.posts[Int(wait.post)].posted,
                        wait.delivered >= 0 ? wait.delivered : wait.end,
                    ],
                    remedy: "On Linux, a post waits for the handlers of addObserver(forName:object:queue:), and for "
                        + "everything that their queue runs before. Observe with ThreadedNotificationCenter, whose posts "
                        + "do not wait, or without a queue, and add an operation to the queue in the handler.",
                    weight: Int(clamping: wait.time), name: name, thread: isEndless ? poster : -1)
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
            guard hasQueue(entry.observer), entry.thread != index.entry(post.posted).thread else { return nil }
            let time = end >= 0 ? index.time(from: begin, to: end) : timeToEnd(begin)
            return (entry.post, [entry.observer], time, span.begin, end)
        }
    }

    /// The posts that did not return, although no handler runs.
    private var endlessWaitsForQueues: [WaitForQueue] {
        index.posts.indices.map(Int32.init).compactMap { number -> WaitForQueue? in
            let post = index.posts[Int(number)]
            guard post.isUnfinished, case let posted = index.entry(post.posted), posted.isFoundation,
                !index.deliveries(ofPost: number).map({ index.deliveries[$0].span }).contains(where: { span in
                    span >= 0 && index.spans[Int(span)].ending != .returned
                }), case let last = index.threads[Int(posted.thread)].last, last >= 0, index.entry(last).post == number
            else { return nil }
            let observers = index.couldHaveMatched(number).filter(hasQueue)
            return observers.isEmpty ? nil : (number, observers, timeToEnd(last), -1, -1)
        }
    }

    private func hasQueue(_ observer: Int32) -> Bool {
        index.registration(of: observer).flatMap(recording.foundationDetails)?.queue != nil
    }
}
