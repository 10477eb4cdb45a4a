internal import DeliveryRecording

/// Operation queues that posts wait for, and posting queues that post nothing.
extension Evidence {
    /// Posts to a Foundation center that waited for a handler of an operation queue: `addObserver(queue:)` lets the
    /// poster wait until the queue has run the handler. A problem if it is for ever, for ten times the budget of the
    /// main thread, or for a stall of another thread.
    var queuesThatBlockPosters: [Finding] {
        guard recording.foundationDetails.contains(where: { $0.queue != nil }) else { return [] }
        let budget = mainBudget
        return index.posts.indices.compactMap { waitForQueue(Int32($0)) }
            .filter { $0.time > ($0.isEndless ? stall : budget) }
            .grouped { [$0.observer, $0.poster, $0.isEndless ? 1 : 0] }.map { waits in
                let wait = waits.reduce(waits[0]) { $1.time > $0.time ? $1 : $0 }
                let isLong = wait.time > (index.isMain(wait.poster) ? budget * Self.farOver : stall)
                let observer = wait.observer < 0 ? "several observers" : words.observer(wait.observer)
                let name = words.name(index.entry(wait.posted).name)
                return Finding(
                    severity: wait.isEndless || isLong ? .problem : .note,
                    problem: "\(words.thread(wait.poster)) posted \(name) and waited for the operation queue of "
                        + "\(observer) \(wait.isEndless ? "until the recording ended, for" : "for up to") "
                        + "\(ElapsedTime.text(wait.time)).",
                    evidence: [words.registered(wait.observer), wait.posted, wait.delivered],
                    remedy: "On Linux, a post waits for handlers of addObserver(forName:object:queue:). Observe with "
                        + "ThreadedNotificationCenter, whose posts do not wait.",
                    weight: Int(clamping: wait.time), thread: wait.isEndless ? wait.poster : -1)
            }
    }

    /// How long a post waited for operation queues, without the handlers on its own thread. The observer is -1 if
    /// several have a queue.
    private func waitForQueue(
        _ number: Int32
    ) -> (posted: Int32, poster: Int32, observer: Int32, delivered: Int32, time: UInt64, isEndless: Bool)? {
        let post = index.posts[Int(number)]
        guard post.posted >= 0, case let posted = index.entry(post.posted), posted.isFoundation,
            post.returned >= 0 || post.isUnfinished, case let last = index.threads[Int(posted.thread)].last
        else { return nil }
        let handlers = index.deliveries(ofPost: number).map { index.deliveries[$0].span }.filter { $0 >= 0 }
            .map { index.spans[Int($0)] }
        let own = handlers.filter { $0.thread == posted.thread }
        let inQueues = handlers.filter { $0.thread != posted.thread && hasQueue(index.observer(of: $0)) }
        let running = inQueues.filter { $0.ending != .returned }
        if post.isUnfinished, own.contains(where: { $0.ending != .returned }) || index.entry(last).post != number {
            return nil
        }
        let observers =
            !post.isUnfinished
            ? inQueues.map(index.observer)
            : running.isEmpty ? index.couldHaveMatched(number).filter(hasQueue) : running.map(index.observer)
        let whole = post.isUnfinished ? timeToEnd(last) : index.time(from: post.posted, to: post.returned)
        let time = post.isUnfinished ? whole : whole - min(whole, own.reduce(0) { $0 + (index.duration(of: $1) ?? 0) })
        guard let observer = observers.first else { return nil }
        return (
            post.posted, posted.thread, observers.count == 1 ? observer : -1,
            (post.isUnfinished ? running : inQueues).first?.begin ?? -1, time, post.isUnfinished
        )
    }

    private func hasQueue(_ observer: Int32) -> Bool {
        index.registration(of: observer).flatMap(recording.foundationDetails)?.queue != nil
    }

    // MARK: Posting queues

    /// Notifications in a queue that were not posted: one finding for each thread, name and sender.
    var enqueuedNeverPosted: [Finding] {
        func key(_ number: Int32) -> [Int32] {
            let entry = index.entry(number)
            return [Int32(recording.process(of: entry)), entry.name, entry.sender]
        }
        // Coalesced notifications of Foundation share a post, and their removal from the queue is not recorded.
        let posts = index.posts.map(\.posted).filter {
            $0 >= 0 && index.entry($0).isFoundation && index.entry($0).stage == .post
        }
        let lastPost = Dictionary(posts.map { (key($0), $0) }) { $1 }
        /// The record of leaving the queue of the library; -1 if there is none.
        func outcome(_ enqueued: Int32) -> Int32 {
            index.entry(enqueued).post < 0 ? -1 : index.posts[Int(index.entry(enqueued).post)].queueOutcome
        }
        func thread(_ enqueued: Int32) -> Int32 {
            index.entry(enqueued).target >= 0 ? index.entry(enqueued).target : index.entry(enqueued).thread
        }
        return index.records(of: .enqueue).filter { number in
            index.entry(number).isFoundation
                ? index.entry(number).style != .now && number > lastPost[key(number)] ?? -1
                : index.entry(number).post >= 0
                    && (outcome(number) < 0 || index.entry(outcome(number)).stage == .targetGone)
        }.grouped { key($0) + [thread($0), index.entry($0).isFoundation ? 1 : 0] }.map { enqueued in
            let (first, thread, outcome) = (enqueued[0], thread(enqueued[0]), outcome(enqueued[0]))
            let (entry, since) = (index.entry(first), timeToEnd(first))
            let isOver = outcome >= 0 || !entry.isFoundation && words.hasExited(process(of: thread))
            return Finding(
                severity: isOver || since > stall ? .problem : .note,
                problem: "\(words.name(entry.name)) was enqueued \(words.times(enqueued.count)) in a "
                    + "\(entry.isFoundation ? "NotificationQueue" : "PostingQueue") on \(words.thread(thread)) and not "
                    + "posted afterwards, for \(ElapsedTime.text(since)).",
                evidence: [first, outcome, index.threads[Int(thread)].last],
                remedy: "The queue posts when the run loop of its thread runs, and a thread of a Dispatch queue runs "
                    + "none. Use a PostingQueue on main or on a RunLoopThread. On Linux, a NotificationQueue that "
                    + "several threads use may post nothing.", weight: enqueued.count)
        }
    }
}
