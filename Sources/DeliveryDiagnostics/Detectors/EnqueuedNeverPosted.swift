internal import DeliveryRecording

extension Detector {
    /// Finds notifications in a `PostingQueue`, or in a `NotificationQueue` of Foundation, that were never posted. The
    /// queue posts when the run loop of its thread runs; on Linux, Foundation's queue may post nothing if it is used on a
    /// second thread.
    static let enqueuedNeverPosted = Detector(
        "enqueuedNeverPosted", "a posting queue never posted a notification", limits: .stall
    ) { $0.inPostingQueues + $0.inNotificationQueues }
}

extension Evidence {
    /// One finding for each name and sender. The removal of a notification from Foundation's queue is not recorded.
    fileprivate var inNotificationQueues: [Finding] {
        func key(_ number: Int32) -> [Int32] {
            let entry = index.entry(number)
            return [Int32(recording.process(of: entry)), entry.name, entry.sender]
        }
        // Coalesced notifications share a post. A queue may post on another thread than the one that enqueues.
        var lastPost: [[Int32]: Int32] = [:]
        for post in index.posts where post.posted >= 0 {
            let entry = index.entry(post.posted)
            if entry.isFoundation, entry.stage == .post { lastPost[key(post.posted)] = post.posted }
        }
        return index.records(of: .enqueue).filter { number in
            let entry = index.entry(number)
            return entry.isFoundation && entry.style != .now && number > lastPost[key(number)] ?? -1
        }.grouped(by: key).map { enqueued in
            let (entry, since) = (index.entry(enqueued[0]), timeToEnd(enqueued[0]))
            return Finding(
                severity: since > limits.stall.nanoseconds ? .problem : .note,
                problem: "\(words.name(entry.name)) was enqueued \(words.times(enqueued.count)) in a NotificationQueue "
                    + "on \(words.thread(entry.thread)) and not posted afterwards, for \(ElapsedTime.text(since)).",
                evidence: [enqueued[0], index.threads[Int(entry.thread)].last],
                remedy: index.isMain(entry.thread)
                    ? "The queue posts when the main run loop runs: end main with RunLoop.main.run(), and let "
                        + "the program continue until everything is posted."
                    : "The queue posts when the run loop of its thread runs, and on Linux a queue that several "
                        + "threads use may post nothing. Use a PostingQueue, on a thread that runs its run loop, "
                        + "such as a RunLoopThread, or post without a queue.", weight: enqueued.count, name: entry.name)
        }
    }

    /// One finding for each name and thread.
    fileprivate var inPostingQueues: [Finding] {
        index.posts.filter { post in
            post.enqueued >= 0 && !index.entry(post.enqueued).isFoundation
                && (post.queueOutcome < 0 || index.entry(post.queueOutcome).stage == .targetGone)
        }.grouped { [thread($0), index.entry($0.enqueued).name] }.map { posts in
            let (first, last, outcome) = (posts[0].enqueued, posts[posts.count - 1].enqueued, posts[0].queueOutcome)
            let (number, name) = (thread(posts[0]), index.entry(first).name)
            let thread = index.threads[Int(number)]
            let since = outcome >= 0 ? index.time(from: first, to: outcome) : timeToEnd(first)
            let reason =
                outcome >= 0 || thread.end > first
                ? "the thread ended before that"
                : recording.threads[Int(number)].isInPool
                    ? "the thread belongs to a Dispatch pool, and runs no run loop"
                    : thread.last <= last
                        ? "the thread recorded nothing after that" : "the queue had no turn on that thread"
            let isLost = outcome >= 0 || since > limits.stall.nanoseconds || words.hasExited(process(of: number))
            return Finding(
                severity: isLost ? .problem : .note,
                problem: "\(words.name(name)) was enqueued \(words.times(posts.count)) in a PostingQueue on "
                    + "\(words.thread(number)) and never posted, for \(ElapsedTime.text(since)): \(reason).",
                evidence: [first, outcome, thread.last],
                remedy: "The queue posts when the run loop of its thread runs, and a thread of a Dispatch queue runs "
                    + "none. Enqueue on a thread that runs its run loop, such as main or a RunLoopThread, and let it "
                    + "run until everything is posted.", weight: posts.count, name: name)
        }
    }

    private func thread(_ post: RecordingIndex.Post) -> Int32 {
        let entry = index.entry(post.enqueued)
        return entry.target >= 0 ? entry.target : entry.thread
    }
}
