internal import DeliveryRecording

/// Threads that handle too slowly, or not at all, what is posted to them.
extension Evidence {
    /// The remedy for a main thread that does not run its run loop.
    static let asyncMain =
        "If main is async, as in tests of Swift Testing, its run loop runs only in a program that links AsyncMain. If "
        + "main ends with dispatchMain(), it never runs: call MainRunLoop.run() instead."

    /// It is a problem to exceed the main thread's budget by this factor. Below, the machine may just have been busy.
    static let farOver: UInt64 = 10

    /// Threads that are in a handler when the recording ends, and recorded nothing else for longer than a stall.
    var handlersThatNeverReturned: [Finding] {
        silent.map { thread, handler in
            let last = index.threads[Int(thread)].last
            // If all threads were silent, the handler may have ended the program after long work.
            let continues = index.threads.enumerated().contains { other, records in
                process(of: Int32(other)) == process(of: thread) && records.last >= 0
                    && timeToEnd(records.last) <= stall
            }
            return Finding(
                severity: continues || words.hasEndedProcess(thread) == false ? .problem : .note,
                problem: "\(words.thread(thread)) is in \(words.handler(handler)) until the recording ends, and "
                    + "recorded nothing else for \(ElapsedTime.text(timeToEnd(last))).",
                evidence: [words.registered(index.observer(of: handler)), handler.begin, last],
                remedy: "Check what the handler waits for, such as a lock or a reply.",
                weight: Int(clamping: timeToEnd(last)))
        }
    }

    /// Threads for which something waits until the recording ends although the program continues.
    var stoppedThreads: [Finding] {
        stopped.map { thread in
            let (waiting, last) = (waiting[thread, default: []], index.threads[Int(thread)].last)
            let (oldest, count) = (waiting[0].append, waiting.count)
            return Finding(
                problem: "\(words.thread(thread)) does not drain: \(counted(count, "notification")) or "
                    + "block\(count == 1 ? " waits" : "s wait") for it, the first since "
                    + "\(ElapsedTime.text(timeToEnd(oldest))).", evidence: [oldest, last],
                remedy: "Make it run its run loop with RunLoop.current.run(), or make it a RunLoopThread."
                    + (index.isMain(thread) ? " \(Self.asyncMain)" : ""), weight: Int(clamping: timeToEnd(oldest)))
        }
    }

    /// Handlers that occupied the main thread for longer than its budget, without the handlers that ran inside them.
    var longHandlersOnMain: [Finding] {
        let budget = mainBudget
        /// For each handler of the main thread: the time in handlers that ran inside it, which are measured separately.
        var nested: [Int32: UInt64] = [:]
        var long: [(span: RecordingIndex.Span, time: UInt64)] = []
        // Backwards, inner handlers come before the handlers around them.
        for (number, span) in index.spans.enumerated().reversed() where !span.isWait && index.isMain(span.thread) {
            guard let whole = index.duration(of: span) else { continue }
            nested[index.handler(span.outer), default: 0] += whole
            let time = whole - min(whole, nested[Int32(number)] ?? 0)
            if time > budget { long.append((span, time)) }
        }
        return long.grouped {
            [index.entry($0.span.begin).observer, words.observedName(index.entry($0.span.begin))]
        }.map { calls in
            // Of equal ones, the earliest.
            let (span, time) = calls.reduce(calls[0]) { $1.time >= $0.time ? $1 : $0 }
            let entry = index.entry(span.begin)
            return Finding(
                severity: time / Self.farOver > budget ? .problem : .note,
                problem: "\(words.observer(entry.observer, name: words.observedName(entry))) occupied the main thread "
                    + "for up to \(ElapsedTime.text(time)), \(words.times(calls.count)) for longer than "
                    + "\(ElapsedTime.text(budget)).",
                evidence: [words.registered(entry.observer), span.begin, span.end],
                remedy: "Observe on a RunLoopThread, do the work there, and post only the result to main.",
                weight: Int(clamping: time))
        }
    }

    /// Notifications and blocks that wait when the recording ends. A problem if the process exited, because nothing
    /// will handle them; otherwise a note.
    var backlog: [Finding] {
        index.deliveries.filter { delivery in
            // What waited for a thread that has ended is a fault or has an outcome.
            let target = index.target(of: delivery)
            return delivery.append >= 0 && (target < 0 || index.threads[Int(target)].end < 0)
        }.grouped {
            [$0.observer, words.observedName(index.entry($0.append)), index.target(of: $0)]
        }.compactMap { deliveries -> Finding? in
            let waiting = deliveries.filter(\.isPending)
            guard let first = waiting.first?.append, case let entry = index.entry(first) else { return nil }
            let (target, process) = (index.target(of: waiting[0]), recording.process(of: entry))
            let all = words.deliveries(deliveries.count, entry.observer, name: words.observedName(entry))
            // An async handler may be running, and missing records may say that it was handled.
            let isLost = target >= 0 && words.hasExited(process) && recording.completeness[process].isComplete
            return Finding(
                severity: isLost ? .problem : .note,
                problem: "\(waiting.count) of \(all) wait\(waiting.count == 1 ? "s" : "") for "
                    + "\(target < 0 ? "an async handler" : words.numberedThread(target)) when the recording ends, the "
                    + "first since \(ElapsedTime.text(timeToEnd(first))).",
                evidence: [words.registered(entry.observer), words.posted(entry), first],
                remedy:
                    "Before the program ends, wait with postAndWait(_:timeout:), and let the thread run its run loop."
                    + (index.isMain(target) ? " \(Self.asyncMain)" : ""), weight: waiting.count, thread: target)
        }
    }

    /// Threads that receive more notifications than they handle.
    var floods: [Finding] {
        zip(Int32(0)..., index.depths()).filter { $1.highest > limits.depth }.map { thread, peak in
            Finding(
                problem: "\(peak.highest) notifications were waiting for \(words.thread(thread)) at the same time. The "
                    + "limit is \(limits.depth).",
                evidence: [words.registered(index.entry(peak.highestEntry).observer), peak.highestEntry],
                remedy: "Post less often, coalesce with a PostingQueue, or slow the posters down with postAndWait.",
                weight: peak.highest)
        }
    }
}
