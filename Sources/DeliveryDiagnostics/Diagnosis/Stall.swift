internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds threads that stopped draining: a notification waits for the thread until the recording ends although the
/// program continues, or the thread is in a handler that never returned.
enum Stall {
    static func findings(_ index: DeliveryIndex, _ limits: DiagnosisLimits) -> [Finding] {
        let recording = index.recording
        let limit = limits.stall.nanoseconds
        /// For each thread: the number of waiting notifications, and the `append` of the one that has waited longest.
        var waiting = recording.threads.map { _ in (count: 0, oldest: Int32(-1)) }
        for pair in index.pairs where index.isPending(pair) && pair.append >= 0 && !index.targetHasEnded(pair) {
            let target = index.target(of: pair)
            guard target >= 0, index.threadEnd[Int(target)] < 0 else { continue }
            waiting[Int(target)].count += 1
            if waiting[Int(target)].oldest < 0 { waiting[Int(target)].oldest = pair.append }
        }
        var running: [Int32: Int] = [:]
        for (number, handler) in index.handlers.enumerated() where handler.returned < 0 {
            running[handler.thread] = number
        }
        let words = DiagnosisWords(index)
        return recording.threads.indices.compactMap { thread -> Finding? in
            let end = index.lastOfProcess[Int(recording.threads[thread].process)]
            guard end >= 0, index.threadEnd[thread] < 0 else { return nil }
            let last = index.lastOfThread[thread]
            let hasRecordedEnd = index.entry(end).thread == Int32(thread)
            func sinceEnd(_ entryIndex: Int32) -> UInt64 {
                let (time, endTime) = (index.entry(entryIndex).time, index.entry(end).time)
                return endTime > time ? endTime - time : 0
            }
            let (count, oldest) = waiting[thread]
            // The handler is not stuck if the program ended in it, or if its thread recorded something later.
            if let number = running[Int32(thread)], last >= 0, !hasRecordedEnd, sinceEnd(last) > limit {
                return neverReturned(index.handlers[number], count, sinceEnd(last), words)
            }
            let handler = running[Int32(thread)].map { index.handlers[$0] }
            guard count > 0, sinceEnd(oldest) > (handler == nil ? limit : limit / 10) else { return nil }
            if sinceEnd(oldest) <= limit || handlesInTurn(index.entry(oldest), after: oldest, index) {
                return backlog(Int32(thread), count, oldest, since: sinceEnd(oldest), in: handler, words)
            }
            let waits =
                "\(count) \(count == 1 ? "notification or block waits" : "notifications or blocks wait") for it, the "
                + "first since " + ElapsedTime.text(sinceEnd(oldest))
            let continues = last > oldest && sinceEnd(last) <= limit
            return Finding(
                kind: .stalled, severity: .problem,
                problem: "\(words.thread(Int32(thread))) "
                    + (continues ? "continues but does not drain" : "stopped draining") + ": \(waits).",
                evidence: [oldest, last].filter { $0 >= 0 },
                remedy: continues
                    ? "It runs its run loop in another mode than the observer's, or no run loop. Run it in one of the "
                        + "observer's modes, or add the observer for the mode that it runs in."
                    : "Make it run its run loop with RunLoop.current.run(), or make it a RunLoopThread. Check what it "
                        + "has been doing since its last record.",
                weight: Int(clamping: sinceEnd(oldest)), thread: continues ? -1 : Int32(thread))
        }
    }

    /// True if the thread has handled something for the same observer since the notification began to wait. Then the
    /// thread is slow, not stuck.
    private static func handlesInTurn(_ waiting: Recording.Entry, after oldest: Int32, _ index: DeliveryIndex) -> Bool {
        index.handlers.contains {
            $0.observer == waiting.observer && $0.thread == waiting.target && $0.deliver > oldest
        }
    }

    private static func backlog(
        _ thread: Int32, _ count: Int, _ oldest: Int32, since: UInt64, in handler: DeliveryIndex.Handler?,
        _ words: DiagnosisWords
    ) -> Finding {
        let inHandler = handler.map { handler in
            ", which is in the handler of "
                + words.observer(handler.observer, name: words.index.entry(handler.deliver).name)
        }
        return Finding(
            kind: .backlog, severity: .note,
            problem: "When the recording ends, \(words.count(count, "notification")) wait\(count == 1 ? "s" : "") for "
                + words.thread(thread)
                + "\(inHandler ?? ""), the first since \(ElapsedTime.text(since)).",
            evidence: [oldest, handler?.deliver ?? -1].filter { $0 >= 0 },
            remedy: "Handle faster, post less, or wait for what was posted before the program ends: "
                + "postAndWait(_:timeout:).",
            weight: count, thread: thread)
    }

    private static func neverReturned(
        _ handler: DeliveryIndex.Handler, _ waiting: Int, _ since: UInt64, _ words: DiagnosisWords
    ) -> Finding {
        let index = words.index
        let registered = handler.observer >= 0 ? index.registered[Int(handler.observer)] : -1
        let observer = words.observer(handler.observer, name: index.entry(handler.deliver).name)
        return Finding(
            kind: .handlerNeverReturned, severity: .problem,
            problem: "\(words.thread(handler.thread)) is in the handler of \(observer) until the recording ends, and "
                + "recorded nothing else for \(ElapsedTime.text(since))"
                + (waiting > 0
                    ? "; \(words.count(waiting, "notification")) wait\(waiting == 1 ? "s" : "") for it." : "."),
            evidence: [registered, handler.deliver, index.lastOfThread[Int(handler.thread)]].filter { $0 >= 0 },
            remedy:
                "Check what the handler waits for, such as a lock, a reply or input. Let it return, and continue when "
                + "that is available.",
            weight: Int(clamping: since), thread: handler.thread)
    }
}
