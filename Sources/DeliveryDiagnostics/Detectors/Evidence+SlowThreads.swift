internal import DeliveryRecording
internal import TerminalText

/// Threads that handle too slowly, or not at all, what is posted to them.
extension Evidence {
    /// The remedy for a main thread that does not run its run loop.
    static let asyncMain =
        "If main is async, as in tests of Swift Testing, its run loop runs only in a program that links AsyncMain: "
        + "link it, or write a synchronous main that ends with MainRunLoop.run(), or observe on a RunLoopThread. If "
        + "main ends with dispatchMain(), its run loop never runs: call MainRunLoop.run() instead."

    /// A wait is a problem if it exceeds the main thread's budget by this factor. Below that, the machine may just have
    /// been busy.
    static let farOver: UInt64 = 10

    /// Threads that are in a handler when the recording ends, and recorded nothing else for longer than a stall.
    var handlersThatNeverReturned: [Finding] {
        silent.map { thread, handler in
            let (last, count) = (index.threads[Int(thread)].last, waiting[thread]?.count ?? 0)
            // If all threads were silent, the handler may have ended the program after long work.
            let continues = index.threads.indices.contains { other in
                let last = index.threads[other].last
                return process(of: Int32(other)) == process(of: thread) && last >= 0 && timeToEnd(last) <= stall
            }
            let isAwaited = endlessWaits.values.contains { targets(of: index.entry($0.begin)).contains(thread) }
            let isStuck = continues || isAwaited || words.hasEndedProcess(thread) == false
            return Finding(
                severity: isStuck ? .problem : .note,
                problem: "\(words.thread(thread)) is in \(words.handler(handler)) until the recording ends, and "
                    + "recorded nothing else for \(ElapsedTime.text(timeToEnd(last)))"
                    + (count > 0 ? "; \(counted(count, "notification")) wait\(count == 1 ? "s" : "") for it." : "."),
                evidence: [words.registered(index.observer(of: handler)), handler.begin, last],
                remedy: "Check what the handler waits for, such as a lock, a reply or input. Let it return, and "
                    + "continue when that is available.",
                weight: Int(clamping: timeToEnd(last)), name: index.entry(handler.begin).name)
        }
    }

    /// Threads for which something waits until the recording ends although the program continues.
    var stoppedThreads: [Finding] {
        stopped.map { thread in
            let (waiting, last) = (waiting[thread, default: []], index.threads[Int(thread)].last)
            let (oldest, count) = (waiting[0].append, waiting.count)
            return Finding(
                problem: "\(words.thread(thread)) does not drain: \(count) notification\(count == 1 ? "" : "s") or "
                    + "block\(count == 1 ? " waits" : "s wait") for it, the first since "
                    + "\(ElapsedTime.text(timeToEnd(oldest))).", evidence: [oldest, last],
                remedy: "Make it run its run loop in a common mode, with RunLoop.current.run(), or make it a "
                    + "RunLoopThread. Check what it has been doing since its last record."
                    + (index.isMain(thread) ? " \(Self.asyncMain)" : ""),
                weight: Int(clamping: timeToEnd(oldest)), name: index.entry(oldest).name)
        }
    }

    /// Handlers that occupied the main thread for longer than its budget, without the handlers that ran inside them.
    var longHandlersOnMain: [Finding] {
        let budget = limits.mainBudget.nanoseconds
        /// For each handler of the main thread: the time in handlers that ran inside it, which are measured separately.
        var nested: [Int32: UInt64] = [:]
        var long: [(begin: Int32, end: Int32, time: UInt64)] = []
        // Backwards, inner handlers come before the handlers around them.
        for (number, span) in index.spans.enumerated().reversed() where !span.isWait && index.isMain(span.thread) {
            guard let whole = index.duration(of: span) else { continue }
            let outer = index.handler(span.outer)
            if outer >= 0 { nested[outer, default: 0] += whole }
            let time = whole - min(whole, nested.removeValue(forKey: Int32(number)) ?? 0)
            if time > budget { long.append((span.begin, span.end, time)) }
        }
        return long.grouped { [index.entry($0.begin).observer, words.observedName(index.entry($0.begin))] }.map {
            calls in
            // Of equal ones, the earliest.
            let (begin, end, time) = calls.reduce(calls[0]) { $1.time >= $0.time ? $1 : $0 }
            let (observer, name) = (index.entry(begin).observer, words.observedName(index.entry(begin)))
            return Finding(
                severity: time / Self.farOver > budget ? .problem : .note,
                problem: "\(words.observer(observer, name: name)) occupied the main thread for up to "
                    + "\(ElapsedTime.text(time)), \(words.times(calls.count)) for longer than "
                    + "\(ElapsedTime.text(budget)).", evidence: [words.registered(observer), begin, end],
                remedy: "Observe on a RunLoopThread, do the work there, and post only the result to main.",
                weight: Int(clamping: time), name: name)
        }
    }

    /// Notifications and blocks that wait when the recording ends. A problem if the process exited, because nothing
    /// will handle them; otherwise a note.
    var backlog: [Finding] {
        index.deliveries.filter { delivery in
            // What waited for a thread that has ended is a fault or has an outcome.
            let target = index.target(of: delivery)
            return delivery.append >= 0 && (target < 0 || index.threads[Int(target)].end < 0)
        }.grouped { delivery in
            [
                Int32(index.process(ofPost: delivery.post)), delivery.observer,
                words.observedName(index.entry(delivery.append)), index.target(of: delivery),
            ]
        }.compactMap { deliveries -> Finding? in
            let waiting = deliveries.filter(\.isPending)
            guard let first = waiting.first?.append, case let entry = index.entry(first) else { return nil }
            let (target, name) = (index.target(of: waiting[0]), words.observedName(entry))
            // An async handler may be running, and missing records may say that it was handled.
            let process = recording.process(of: entry)
            let isLost = target >= 0 && words.hasExited(process) && recording.completeness[process].isComplete
            return Finding(
                severity: isLost ? .problem : .note,
                problem: "\(waiting.count) of \(words.deliveries(deliveries.count, entry.observer, name: name)) "
                    + "wait\(waiting.count == 1 ? "s" : "") for "
                    + "\(target < 0 ? "an async handler" : words.numberedThread(target)) when the recording ends, the "
                    + "first since \(ElapsedTime.text(timeToEnd(first))).",
                evidence: [words.registered(entry.observer), words.posted(entry), first],
                remedy: "Before the program ends, wait for what was posted, with postAndWait(_:timeout:)."
                    + (target < 0 || waiting.count < deliveries.count
                        ? "" : " A thread handles what waits for it when it runs its run loop in a common mode.")
                    + (index.isMain(target) ? " \(Self.asyncMain)" : ""),
                weight: waiting.count, name: name, thread: target)
        }
    }

    /// Threads that receive more notifications than they handle.
    var floods: [Finding] {
        zip(Int32(0)..., index.depths()).filter { $1.highest > limits.depth }.map { thread, peak in
            let entry = index.entry(peak.highestEntry)
            return Finding(
                problem: "\(peak.highest) notifications were waiting for \(words.thread(thread)) at the same time. The "
                    + "limit is \(limits.depth).", evidence: [words.registered(entry.observer), peak.highestEntry],
                remedy: "Post less often, or coalesce: ObserverOptions(overflow: .keepLatest), a PostingQueue, or "
                    + "postAndWait, which slows the posters down.", weight: peak.highest, name: entry.name)
        }
    }
}
