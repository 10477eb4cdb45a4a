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
        running.keys.compactMap { thread -> Finding? in
            guard let (handler, time) = silence(of: thread) else { return nil }
            let (observer, count) = (index.observer(of: handler), waiting[thread]?.count ?? 0)
            // If all threads were silent, the handler may have ended the program after long work.
            let continues = index.threads.indices.contains { other in
                let last = index.threads[other].last
                return process(of: Int32(other)) == process(of: thread) && last >= 0 && timeToEnd(last) <= stall
            }
            return Finding(
                severity: continues || words.hasEndedProcess(thread) == false ? .problem : .note,
                problem: "\(words.thread(thread)) is in \(words.handler(handler)) until the recording ends, and "
                    + "recorded nothing else for \(ElapsedTime.text(time))"
                    + (count > 0 ? "; \(counted(count, "notification")) wait\(count == 1 ? "s" : "") for it." : "."),
                evidence: [words.registered(observer), handler.begin, index.threads[Int(thread)].last],
                remedy: "Check what the handler waits for, such as a lock, a reply or input. Let it return, and "
                    + "continue when that is available.",
                weight: Int(clamping: time), name: index.entry(handler.begin).name, thread: thread)
        }
    }

    /// Threads that stopped draining: a notification waits for the thread until the recording ends although the program
    /// continues. See `handlersThatNeverReturned` for a thread that is in a handler.
    var stoppedThreads: [Finding] {
        // What a thread waits for is a finding of the wait.
        let awaited = index.spans.filter { $0.ending == .open && isForDelivery($0) }
            .flatMap { targets(of: index.entry($0.begin)) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return waiting.compactMap { thread, waiting -> Finding? in
            let (oldest, last, isOne) = (waiting[0].append, index.threads[Int(thread)].last, waiting.count == 1)
            let since = timeToEnd(oldest)
            guard waiting.count > awaited[thread, default: 0], since > stall, silence(of: thread) == nil else {
                return nil
            }
            // A thread that has handled something for the same observer since then is slow, not stuck.
            let isSlow = index.spans.contains { span in
                span.begin > oldest && span.thread == index.entry(oldest).target && !span.isWait
                    && index.entry(span.begin).observer == index.entry(oldest).observer
            }
            if isSlow { return nil }
            let continues = last > oldest && timeToEnd(last) <= stall
            return Finding(
                problem: "\(words.thread(thread)) \(continues ? "continues but does not drain" : "stopped draining"): "
                    + "\(waiting.count) \(isOne ? "notification or block waits" : "notifications or blocks wait") for "
                    + "it, the first since \(ElapsedTime.text(since)).", evidence: [oldest, last],
                remedy: continues
                    ? "It runs no run loop, or runs it in a mode that is not common. Run it in the default mode, or "
                        + "make the other mode common with CFRunLoopAddCommonMode."
                    : "Make it run its run loop with RunLoop.current.run(), or make it a RunLoopThread. Check what it "
                        + "has been doing since its last record." + (index.isMain(thread) ? " \(Self.asyncMain)" : ""),
                weight: Int(clamping: since), name: index.entry(oldest).name, thread: continues ? -1 : thread)
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

    /// Notifications and blocks that wait when the recording ends. A problem if the process exited, because nothing will
    /// handle them; otherwise a note.
    var backlog: [Finding] {
        let appended = index.deliveries.filter { delivery in
            // What waited for a thread that has ended is a fault or has an outcome.
            let target = index.target(of: delivery)
            return delivery.append >= 0
                && (target < 0 || index.threads[Int(target)].end < 0)
        }
        return appended.grouped { delivery in
            [
                Int32(index.process(ofPost: delivery.post)), delivery.observer,
                words.observedName(index.entry(delivery.append)), index.target(of: delivery),
            ]
        }.compactMap { deliveries -> Finding? in
            let waiting = deliveries.filter(\.isPending)
            guard let first = waiting.first?.append, case let entry = index.entry(first) else { return nil }
            let (target, name) = (index.target(of: waiting[0]), words.observedName(entry))
            let (isBlock, isOne, handler) = (entry.observer < 0 && name < 0, waiting.count == 1, running[target])
            // An async handler may be running.
            let isProblem = target >= 0 && words.hasExited(recording.process(of: entry))
            let source = words.posted(entry) >= 0 ? words.posted(entry) : first
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "When the recording ends, \(waiting.count) of "
                    + counted(deliveries.count, isBlock ? "block" : "notification")
                    + (isBlock ? "" : " for \(words.observer(entry.observer, name: name))")
                    + (target >= 0
                        ? " wait\(isOne ? "s" : "") for \(words.thread(target))"
                        : " \(isOne ? "is" : "are") not handled")
                    + (handler.map { ", which is in \(words.handler($0))" } ?? "")
                    + ", the first since \(ElapsedTime.text(timeToEnd(first))), "
                    + "\(isBlock ? "enqueued" : "posted") \(by(source)).",
                evidence: [words.registered(entry.observer), source, first, handler?.begin ?? -1],
                remedy: isProblem
                    ? "\(isOne ? "It is" : "They are") lost. Before the program ends, wait for what was posted: "
                        + "postAndWait(_:timeout:)."
                    : "If the program ended with that, they are lost: before it ends, wait for what was posted, with "
                        + "postAndWait(_:timeout:).", weight: waiting.count, name: name, thread: target)
        }
    }

    /// Threads that receive more notifications than they handle.
    var floods: [Finding] {
        let depths = zip(Int32(0)..., index.depths()).filter { $1.highest > limits.depth }
        if depths.isEmpty { return [] }
        let changes = index.depthChanges
        func source(_ number: Int32) -> Int32 {
            let source = words.source(ofPost: index.entry(number).post)
            return source < 0 ? number : source
        }
        return depths.map { thread, peak in
            let waiting = (0...peak.highestEntry).filter { number in
                guard changes[Int(number)] == thread + 1, case let end = index.waitEnd(number) else { return false }
                return end < 0 || end > peak.highestEntry
            }
            let posters = waiting.map(source).grouped { source in
                let entry = index.entry(source)
                return [entry.thread, entry.name, entry.location]
            }.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
            let details = posters.prefix(5).map { posts in
                let entry = index.entry(posts[0])
                return "\(posts.count) of them: \(words.thread(entry.thread)) posts "
                    + "\(entry.name < 0 ? "blocks" : words.name(entry.name))\(words.location(of: posts[0], " at "))"
            }
            let (peakEntry, more) = (index.entry(peak.highestEntry), posters.count - details.count)
            return Finding(
                problem: "\(peak.highest) notifications were waiting for \(words.thread(thread)) at the same time, "
                    + "\(ElapsedTime.text(UInt64(max(0, recording.elapsed(peakEntry))))) after the beginning. The limit "
                    + "is \(limits.depth).", evidence: [waiting.first ?? -1, peak.highestEntry],
                details: ["depth over time: \(sparkline(thread, changes)) (highest \(peak.highest))"] + details
                    + (more > 0 ? ["and \(counted(more, "poster")) more"] : []),
                remedy: "Post less often, or coalesce: ObserverOptions(overflow: .keepLatest), a PostingQueue, or "
                    + "postAndWait, which slows the posters down.", weight: peak.highest,
                name: posters.first.map { index.entry($0[0]).name } ?? -1)
        }
    }

    /// The highest depth in each of 40 equal spans of the recording's time.
    private func sparkline(_ thread: Int32, _ changes: [Int32]) -> String {
        let (entries, bars) = (recording.entries, Array("▁▂▃▄▅▆▇█"))
        let (start, length) = (entries[0].time, entries[entries.count - 1].time &- entries[0].time)
        var (highest, depth, column) = (Array(repeating: 0, count: 40), 0, 0)
        for (change, entry) in zip(changes, entries) {
            let next = Int(min(39, (entry.time &- start) / (length / 40 + 1)))
            while column < next {
                column += 1
                highest[column] = depth
            }
            if change.magnitude == thread + 1 { depth += Int(change.signum()) }
            highest[column] = max(highest[column], depth)
        }
        let top = max(1, highest.max() ?? 1)
        return String(highest.map { $0 <= 0 ? "·" : bars[min(bars.count - 1, $0 * bars.count / (top + 1))] })
    }
}
