internal import DeliveryRecording

/// Finds notifications in a `NotificationQueue` of Foundation that were never posted. On Linux, only the queue of the
/// main thread posts, from the main run loop.
enum EnqueuedNeverPosted {
    private struct Key: Hashable {
        var thread: Int32
        var name: Int32
    }

    static func findings(_ words: RecordWords, _ limits: DiagnosisLimits) -> [Finding] {
        let index = words.index
        var waiting: [Key: (count: Int, first: Int32)] = [:]
        for (number, entry) in index.recording.entries.enumerated() where entry.isFoundation {
            let key = Key(thread: entry.thread, name: entry.name)
            switch entry.stage {
            case .enqueue where entry.style != .now: waiting[key, default: (0, Int32(number))].count += 1
            // Coalesced notifications share a post.
            case .post: waiting[key] = nil
            default: break
            }
        }
        return waiting.compactMap { key, found in
            let process = Int(index.recording.threads[Int(key.thread)].process)
            let since = index.time(from: found.first, to: index.processes[process].last)
            let isMain = index.isMain(key.thread)
            let thread = words.thread(key.thread)
            return Finding(
                kind: .enqueuedNeverPosted,
                severity: !isMain || since > limits.stall.nanoseconds ? .problem : .note,
                problem: "\(words.name(key.name)) was enqueued \(words.times(found.count)) in the NotificationQueue of "
                    + "\(thread) and not posted afterwards, for \(ElapsedTime.text(since)).",
                evidence: [found.first, index.threads[Int(key.thread)].last],
                remedy: isMain
                    ? "The queue posts when the main run loop runs: end main with RunLoop.main.run(), and let the program "
                        + "continue until everything is posted."
                    : "On Linux, a NotificationQueue posts on the main thread only. Use a PostingQueue, on a thread that "
                        + "runs its run loop, such as a RunLoopThread, or post without a queue.",
                weight: found.count, name: key.name)
        }
    }
}
