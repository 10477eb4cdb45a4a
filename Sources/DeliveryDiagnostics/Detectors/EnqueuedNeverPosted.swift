internal import DeliveryRecording

extension Detector {
    private struct Key: Hashable {
        var process: Int32
        var name: Int32
        var sender: Int32
    }

    /// Finds notifications in a `PostingQueue`, or in a `NotificationQueue` of Foundation, that were never posted. The
    /// queue posts when the run loop of its thread runs; on Linux, Foundation's queue may post nothing if it is used on a
    /// second thread.
    ///
    /// The removal of a notification from Foundation's queue is not recorded.
    static let enqueuedNeverPosted = Detector(
        "enqueuedNeverPosted", "a posting queue never posted a notification", limits: .stall
    ) { evidence in
        let (words, limits) = (evidence.words, evidence.limits)
        let index = words.index
        func key(_ entry: Recording.Entry) -> Key {
            Key(process: Int32(index.recording.process(of: entry)), name: entry.name, sender: entry.sender)
        }
        // Coalesced notifications share a post. A queue may post on another thread than the one that enqueues.
        var lastPost: [Key: Int32] = [:]
        for post in index.posts where post.posted >= 0 {
            let entry = index.entry(post.posted)
            if entry.isFoundation, entry.stage == .post { lastPost[key(entry)] = post.posted }
        }
        var waiting: [Key: (count: Int, first: Int32)] = [:]
        for number in index.records(of: .enqueue) {
            let entry = index.entry(number)
            guard entry.isFoundation, entry.style != .now, number > lastPost[key(entry)] ?? -1 else { continue }
            waiting[key(entry), default: (0, number)].count += 1
        }
        return inPostingQueues(words, limits)
            + waiting.compactMap { key, found in
                let since = index.time(from: found.first, to: index.processes[Int(key.process)].last)
                let enqueuing = index.entry(found.first).thread
                let isMain = index.isMain(enqueuing)
                let thread = words.thread(enqueuing)
                return Finding(
                    severity: since > limits.stall.nanoseconds ? .problem : .note,
                    problem:
                        "\(words.name(key.name)) was enqueued \(words.times(found.count)) in a NotificationQueue on "
                        + "\(thread) and not posted afterwards, for \(ElapsedTime.text(since)).",
                    evidence: [found.first, index.threads[Int(enqueuing)].last],
                    remedy: isMain
                        ? "The queue posts when the main run loop runs: end main with RunLoop.main.run(), and let "
                            + "the program continue until everything is posted."
                        : "The queue posts when the run loop of its thread runs, and on Linux a queue that several "
                            + "threads use may post nothing. Use a PostingQueue, on a thread that runs its run loop, "
                            + "such as a RunLoopThread, or post without a queue.", weight: found.count, name: key.name)
            }
    }

    /// One finding for each name and thread.
    private static func inPostingQueues(_ words: RecordWords, _ limits: DiagnosisLimits) -> [Finding] {
        let index = words.index
        var found: [[Int32]: (count: Int, first: Int32, last: Int32, outcome: Int32)] = [:]
        for post in index.posts where post.enqueued >= 0 {
            let entry = index.entry(post.enqueued)
            guard !entry.isFoundation, post.queueOutcome < 0 || index.entry(post.queueOutcome).stage == .targetGone
            else { continue }
            let thread = entry.target >= 0 ? entry.target : entry.thread
            found[[thread, entry.name], default: (0, post.enqueued, -1, post.queueOutcome)].count += 1
            found[[thread, entry.name]]?.last = post.enqueued
        }
        return found.map { key, found in
            let process = Int(words.recording.threads[Int(key[0])].process)
            let thread = index.threads[Int(key[0])]
            let since = index.time(
                from: found.first, to: found.outcome >= 0 ? found.outcome : index.processes[process].last)
            let reason =
                found.outcome >= 0 || thread.end > found.first
                ? "the thread ended before that"
                : words.recording.threads[Int(key[0])].isInPool
                    ? "the thread belongs to a Dispatch pool, and runs no run loop"
                    : thread.last <= found.last
                        ? "the thread recorded nothing after that" : "the queue had no turn on that thread"
            let isLost = found.outcome >= 0 || since > limits.stall.nanoseconds || words.hasExited(process)
            return Finding(
                severity: isLost ? .problem : .note,
                problem: "\(words.name(key[1])) was enqueued \(words.times(found.count)) in a PostingQueue on "
                    + "\(words.thread(key[0])) and never posted, for \(ElapsedTime.text(since)): \(reason).",
                evidence: [found.first, found.outcome, thread.last],
                remedy:
                    "The queue posts when the run loop of its thread runs, and a thread of a Dispatch queue runs none. "
                    + "Enqueue on a thread that runs its run loop, such as main or a RunLoopThread, and let it run "
                    + "until everything is posted.", weight: found.count, name: key[1])
        }
    }
}
