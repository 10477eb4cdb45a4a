internal import DeliveryRecording

extension Detector {
    /// Finds threads that do not drain, and handlers that keep the main thread from it.
    static let stalled = Detector(
        "stalled", "a thread stopped draining, or a handler occupied the main thread for too long",
        formerly: ["mainHeldUp"], limits: .stall, .mainBudget
    ) { stopped($0) + mainHeldUp($0) }

    /// Threads that stopped draining: a notification waits for the thread until the recording ends although the program
    /// continues. See `handlerNeverReturned` for a thread that is in a handler.
    private static func stopped(_ evidence: Evidence) -> [Finding] {
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
        for span in index.spans where span.isWait && span.ending == .open && isForDelivery(span, words) {
            for target in targets.of(index.entry(span.begin)) { waiters[Int(target)] += 1 }
        }
        return recording.threads.indices.compactMap { number -> Finding? in
            let (thread, last) = (Int32(number), index.threads[number].last)
            let end = index.processes[Int(recording.threads[number].process)].last
            guard end >= 0, index.threads[number].end < 0 else { return nil }
            let (count, oldest) = waiting[number]
            guard count > waiters[number], silence(of: thread, evidence) == nil else { return nil }
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
                problem: "\(words.thread(thread)) " + (continues ? "continues but does not drain" : "stopped draining")
                    + ": \(waits).", evidence: [oldest, last],
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

    /// A wait is a problem if it exceeds the budget by this factor. Below that, the machine may just have been busy.
    static let farOver: UInt64 = 10

    /// Handlers that occupied the main thread for longer than its budget.
    private static func mainHeldUp(_ evidence: Evidence) -> [Finding] {
        let (words, limits) = (evidence.words, evidence.limits)
        let index = words.index
        let budget = limits.mainBudget.nanoseconds
        /// By observer, and name if the observer is not registered.
        var found: [UInt64: (count: Int, longest: UInt64, span: RecordingIndex.Span)] = [:]
        /// For each handler of the main thread: the time in handlers that ran inside it, which are measured separately.
        var nested: [Int32: UInt64] = [:]
        // Backwards, inner handlers come before the handlers around them.
        for (number, span) in index.spans.enumerated().reversed() where !span.isWait && index.isMain(span.thread) {
            guard let whole = index.duration(of: span) else { continue }
            let outer = index.handler(span.outer)
            if outer >= 0 { nested[outer, default: 0] += whole }
            let duration = whole - min(whole, nested.removeValue(forKey: Int32(number)) ?? 0)
            guard duration > budget else { continue }
            let entry = index.entry(span.begin)
            let key = indexPair(entry.observer, words.observedName(entry))
            let before = found[key] ?? (0, 0, span)
            found[key] =
                duration >= before.longest
                ? (before.count + 1, duration, span) : (before.count + 1, before.longest, before.span)
        }
        return found.values.map { found in
            let entry = index.entry(found.span.begin)
            let name = words.observedName(entry)
            return Finding(
                severity: found.longest / farOver > budget ? .problem : .note,
                problem: "\(words.observer(entry.observer, name: name)) occupied the main thread for up to "
                    + "\(ElapsedTime.text(found.longest)), \(words.times(found.count)) for longer than "
                    + "\(ElapsedTime.text(budget)).",
                evidence: [words.registered(entry.observer), found.span.begin, found.span.end],
                remedy: "Observe on a RunLoopThread, do the work there, and post only the result to main.",
                weight: Int(clamping: found.longest), name: name, formerKind: "mainHeldUp", sortedAs: .endedInHandler)
        }
    }
}
