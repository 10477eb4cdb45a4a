internal import DeliveryRecording

/// Finds threads that stopped draining: a notification waits for the thread until the recording ends although the
/// program continues. See `HandlerNeverReturned` for a thread that is in a handler.
enum Stall {
    static func findings(_ evidence: Evidence) -> [Finding] {
        let (words, limits) = (evidence.words, evidence.limits)
        let (index, recording) = (words.index, words.recording)
        let limit = limits.stall.nanoseconds
        /// For each thread: the number of waiting notifications, and the `append` of the one that has waited longest.
        var waiting = recording.threads.map { _ in (count: 0, oldest: Int32(-1)) }
        for delivery in index.deliveries where delivery.kind != .redirected && delivery.isPending {
            let target = delivery.append < 0 ? -1 : index.target(of: delivery)
            guard target >= 0, index.threads[Int(target)].end < 0 else { continue }
            waiting[Int(target)].count += 1
            if waiting[Int(target)].oldest < 0 { waiting[Int(target)].oldest = delivery.append }
        }
        // What a thread waits for is a finding of the wait.
        let targets = WaitTargets(recording)
        var waiters = recording.threads.map { _ in 0 }
        for span in index.spans where span.isWait && span.ending == .open && LongWait.isForDelivery(span, words) {
            for target in targets.of(index.entry(span.begin)) { waiters[Int(target)] += 1 }
        }
        return recording.threads.indices.compactMap { number -> Finding? in
            let (thread, last) = (Int32(number), index.threads[number].last)
            let end = index.processes[Int(recording.threads[number].process)].last
            guard end >= 0, index.threads[number].end < 0 else { return nil }
            let (count, oldest) = waiting[number]
            guard count > waiters[number], HandlerNeverReturned.silence(of: thread, evidence) == nil else { return nil }
            let since = index.time(from: oldest, to: end)
            guard since > limit else { return nil }
            // A thread that has handled something for the same observer since then is slow, not stuck.
            let isSlow = index.spans.contains { span in
                span.begin > oldest && span.thread == index.entry(oldest).target && !span.isWait
                    && index.entry(span.begin).observer == index.entry(oldest).observer
            }
            if isSlow { return nil }
            let waits =
                "\(count) \(count == 1 ? "notification or block waits" : "notifications or blocks wait") for it, the "
                + "first since " + ElapsedTime.text(since)
            let continues = last > oldest && index.time(from: last, to: end) <= limit
            return Finding(
                severity: .problem,
                problem: "\(words.thread(thread)) "
                    + (continues ? "continues but does not drain" : "stopped draining") + ": \(waits).",
                evidence: [oldest, last],
                remedy: continues
                    ? "It runs no run loop, or runs it in a mode that is not common. Run it in the default mode, or "
                        + "make the other mode common with CFRunLoopAddCommonMode."
                    : "Make it run its run loop with RunLoop.current.run(), or make it a RunLoopThread. Check what it "
                        + "has been doing since its last record." + (index.isMain(thread) ? " \(asyncMain)" : ""),
                weight: Int(clamping: since), name: index.entry(oldest).name, thread: continues ? -1 : thread)
        }
    }

    /// The remedy for a main thread that does not run its run loop.
    static let asyncMain =
        "If main is async, as in tests of Swift Testing, its run loop runs only in a program that links AsyncMain: "
        + "link it, or write a synchronous main that ends with MainRunLoop.run(), or observe on a RunLoopThread. If "
        + "main ends with dispatchMain(), its run loop never runs: call MainRunLoop.run() instead."
}

extension Finding.Kind {
    static let stalled = Finding.Kind(
        "stalled", "a thread stopped draining, or a handler occupied the main thread for too long", limits: .stall,
        .mainBudget)
}
