internal import DeliveryRecording

/// Finds notifications in a `NotificationQueue` of Foundation that were never posted. The queue posts when the run loop
/// of its thread runs; on Linux, a queue that is used on a second thread may post nothing.
///
/// The removal of a notification from the queue is not recorded.
enum EnqueuedNeverPosted {
    private struct Key: Hashable {
        var process: Int32
        var name: Int32
        var sender: Int32
    }

    static func findings(_ words: RecordWords, _ limits: DiagnosisLimits) -> [Finding] {
        let index = words.index
        var waiting: [Key: (count: Int, first: Int32)] = [:]
        for (number, entry) in index.recording.entries.enumerated() where entry.isFoundation {
            let key = Key(
                process: index.recording.threads[Int(entry.thread)].process, name: entry.name, sender: entry.sender)
            switch entry.stage {
            case .enqueue where entry.style != .now: waiting[key, default: (0, Int32(number))].count += 1
            // Coalesced notifications share a post. A queue may post on another thread than the one that enqueues.
            case .post: waiting[key] = nil
            default: break
            }
        }
        return waiting.compactMap { key, found in
            let since = index.time(from: found.first, to: index.processes[Int(key.process)].last)
            let enqueuing = index.entry(found.first).thread
            let isMain = index.isMain(enqueuing)
            let thread = words.thread(enqueuing)
            return Finding(
                kind: .enqueuedNeverPosted,
                severity: since > limits.stall.nanoseconds ? .problem : .note,
                problem: "\(words.name(key.name)) was enqueued \(words.times(found.count)) in a NotificationQueue on "
                    + "\(thread) and not posted afterwards, for \(ElapsedTime.text(since)).",
                evidence: [found.first, index.threads[Int(enqueuing)].last],
                remedy: isMain
                    ? "The queue posts when the main run loop runs: end main with RunLoop.main.run(), and let the program "
                        + "continue until everything is posted."
                    : "The queue posts when the run loop of its thread runs, and on Linux a queue that several threads "
                        + "use may post nothing. Use a PostingQueue, on a thread that runs its run loop, such as a "
                        + "RunLoopThread, or post without a queue.",
                weight: found.count, name: key.name)
        }
    }
}
