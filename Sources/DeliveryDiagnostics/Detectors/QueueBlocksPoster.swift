internal import DeliveryRecording

extension Detector {
    /// A thread's wait for a handler, or for its begin.
    private struct Wait {
        let post: Int32
        /// The observers whose handlers it may wait for: several if it is not known which one is next.
        let observers: [Int32]
        let time: UInt64
        /// The `deliver`; -1 if the handler did not begin.
        var delivered: Int32 = -1
        var end: Int32 = -1
        var isEndless: Bool { end < 0 }
    }

    /// Finds posts to a Foundation center that waited for a handler of an operation queue: `addObserver(queue:)` lets the
    /// poster wait until the queue has run the handler. If the queue waits for the poster, neither continues.
    ///
    /// For ever is a problem. Otherwise it is one if the main thread waited for ten times its budget, or another thread
    /// for longer than a stall; a note if it was longer than the budget.
    static let queueBlocksPoster = Detector(
        "queueBlocksPoster", "a post to a Foundation center waited for an operation queue", limits: .mainBudget, .stall
    ) { evidence in
        let (words, limits) = (evidence.words, evidence.limits)
        let index = words.index
        guard index.recording.foundationDetails.contains(where: { $0.queue != nil }) else { return [] }
        let waits = waits(index) + endlessWaits(index)
        let long = waits.filter { $0.time > ($0.isEndless ? limits.stall : limits.mainBudget).nanoseconds }
        return Dictionary(grouping: long) { wait in
            indexPair(wait.observers[0], index.entry(index.posts[Int(wait.post)].posted).thread)
        }.values.map { finding($0, words, limits) }
    }

    private static func finding(_ waits: [Wait], _ words: RecordWords, _ limits: DiagnosisLimits) -> Finding {
        let index = words.index
        let wait = waits.reduce(waits[0]) {
            ($1.isEndless ? 1 : 0, $1.time) > ($0.isEndless ? 1 : 0, $0.time) ? $1 : $0
        }
        let posted = index.posts[Int(wait.post)].posted
        let thread = index.entry(posted).thread
        let limit = index.isMain(thread) ? limits.mainBudget.nanoseconds * farOver : limits.stall.nanoseconds
        let isMainQueue = wait.observers.allSatisfy { observer in
            index.registration(of: observer).flatMap(index.recording.foundationDetails(of:))?.queue == "main"
        }
        let queue = isMainQueue ? "the main queue" : "its operation queue"
        let name = index.name(ofPost: wait.post)
        let time = ElapsedTime.text(wait.time)
        let isCertain = wait.observers.count == 1
        let handler =
            isCertain
            ? "the handler of \(words.observer(wait.observers[0], name: name))"
            : "the handler of one of \(wait.observers.count) candidates"
        let problem =
            wait.isEndless
            ? "\(words.thread(thread)) posted \(words.name(name)) and has waited since then, \(time) until the "
                + "recording ends, for \(handler), which \(queue) "
                + (wait.delivered < 0 ? "did not begin." : "did not finish.")
            : "\(words.thread(thread)) posted \(words.name(name)) and waited "
                + "\(waits.count == 1 ? "" : "up to ")\(time) for " + "\(handler) on \(queue)"
                + (waits.count == 1 ? "." : ", \(words.times(waits.count)) too long.")
        return Finding(
            severity: wait.isEndless || wait.time > limit ? .problem : .note, problem: problem,
            evidence: wait.observers.prefix(1).map(words.registered) + [
                posted, wait.delivered >= 0 ? wait.delivered : wait.end,
            ],
            details: isCertain
                ? []
                : wait.observers.map { observer in
                    "candidate: "
                        + "\(words.observer(observer))\(words.location(of: words.registered(observer), ", added at "))"
                },
            remedy: "On Linux, a post waits for the handlers of addObserver(forName:object:queue:), and for everything "
                + "that their queue runs before. Observe with ThreadedNotificationCenter, whose posts do not wait, or "
                + "without a queue, and add an operation to the queue in the handler.",
            weight: Int(clamping: wait.time), name: name, thread: wait.isEndless ? thread : -1)
    }

    /// The waits for handlers that began. A center calls handlers one after another, so the wait begins when the
    /// handler before has returned.
    private static func waits(_ index: RecordingIndex) -> [Wait] {
        var waits: [Wait] = []
        /// For each post: the end of the last handler.
        var lastEnds: [Int32: Int32] = [:]
        for span in index.spans where !span.isWait {
            let entry = index.entry(span.begin)
            guard entry.isFoundation, entry.post >= 0, case let post = index.posts[Int(entry.post)], post.posted >= 0
            else { continue }
            let begin = lastEnds[entry.post] ?? post.posted
            let end = span.ending == .returned ? span.end : post.returned
            lastEnds[entry.post] = end >= 0 ? end : span.begin
            guard hasQueue(entry.observer, index), entry.thread != index.entry(post.posted).thread else { continue }
            let last = end >= 0 ? end : index.processes[index.process(ofPost: entry.post)].last
            waits.append(
                Wait(
                    post: entry.post, observers: [entry.observer], time: index.time(from: begin, to: last),
                    delivered: span.begin, end: end))
        }
        return waits
    }

    /// The posts that did not return, although no handler runs.
    private static func endlessWaits(_ index: RecordingIndex) -> [Wait] {
        index.posts.indices.map(Int32.init).compactMap { number -> Wait? in
            let post = index.posts[Int(number)]
            guard post.isUnfinished, case let posted = index.entry(post.posted), posted.isFoundation,
                !index.deliveries(ofPost: number).contains(where: { delivery in
                    let span = index.deliveries[delivery].span
                    return span >= 0 && index.spans[Int(span)].ending != .returned
                }), case let last = index.threads[Int(posted.thread)].last, last >= 0, index.entry(last).post == number
            else { return nil }
            let observers = index.couldHaveMatched(number).filter { hasQueue($0, index) }
            guard !observers.isEmpty else { return nil }
            let end = index.processes[index.process(ofPost: number)].last
            return Wait(post: number, observers: observers, time: index.time(from: last, to: end))
        }
    }

    private static func hasQueue(_ observer: Int32, _ index: RecordingIndex) -> Bool {
        index.registration(of: observer).flatMap(index.recording.foundationDetails(of:))?.queue != nil
    }
}
