internal import DeliveryRecording
internal import TerminalText

/// Threads that wait for other threads.
extension Evidence {
    /// Waits that were refused because they would have deadlocked (guarantee 13).
    var refusedWaits: [Finding] {
        index.records(of: .refuseWait).grouped(by: place).map { waits in
            let message = RecordWords.withThreadNames(recording.message(of: index.entry(waits[0])) ?? "")
            return Finding(
                problem: "A wait was refused \(words.times(waits.count)) because it would have deadlocked.",
                evidence: [waits[0]],
                details: message.split(separator: ";").prefix(8).map { Excerpt.of(String($0.drop { $0 == " " })) },
                remedy: "Do not wait in a handler for a thread that may wait for this one: post without waiting, and "
                    + "continue in the handler of the reply.", weight: waits.count)
        }
    }

    /// Waits that lasted for their timeout, with the handlers that the other threads were in meanwhile.
    var timedOutWaits: [Finding] {
        let waits = index.spans.filter {
            $0.isWait && $0.ending == .returned && index.entry($0.end).reason == .timedOut
        }
        return waits.grouped { place(of: $0.begin) }.map { waits in
            let (wait, entry, count) = (waits[0], index.entry(waits[0].begin), waits.count)
            let targets = targets(of: entry)
            let busy = targets.filter { $0 != wait.thread && handler(of: $0, at: wait.end) != nil }
            let meanwhile = busy.map { occupation(of: $0, at: wait.end, since: wait.begin) }
            return Finding(
                problem: "\(words.thread(wait.thread)) waited\(message(of: entry).map { " for \($0)" } ?? "") until "
                    + "the timeout, after \(ElapsedTime.text(index.time(from: wait.begin, to: wait.end)))"
                    + words.location(of: wait.begin, ", at ")
                    + (count == 1 ? "" : ", and \(words.times(count - 1)) more")
                    + (busy.isEmpty ? "." : ". Then \(words.list(meanwhile))."),
                evidence: [wait.begin, busy.first.flatMap { handler(of: $0, at: wait.end)?.begin } ?? -1, wait.end],
                remedy: busy.isEmpty
                    ? "Check what the other thread did meanwhile: its run loop must run in a common mode, and no "
                        + "handler may hold it up. A longer timeout helps only if it is slow."
                        + advice(targets, at: wait.end, since: wait.begin)
                    : "Make that handler return sooner, such as by doing its work on another thread, or allow more "
                        + "time.", weight: count)
        }
    }

    /// Threads that wait in `postAndWait` or `performAndWait` when the recording ends, or waited for longer than a
    /// stall. One finding for each thread that waits, about the wait at the end, or else the longest.
    var longWaits: [Finding] {
        func time(_ wait: RecordingIndex.Span) -> UInt64 {
            wait.ending == .open ? timeToEnd(wait.begin) : index.time(from: wait.begin, to: wait.end)
        }
        let long = index.spans.filter { wait in
            isForDelivery(wait)
                && (wait.ending == .open
                    || wait.ending == .returned && index.entry(wait.end).reason != .timedOut && time(wait) > stall)
        }
        return long.grouped(by: \.thread).map { waits in
            let wait = waits.reduce(waits[0]) { worst, next in
                next.ending == .open || worst.ending != .open && time(next) > time(worst) ? next : worst
            }
            let (entry, isAtEnd, time) = (index.entry(wait.begin), wait.ending == .open, time(wait))
            let (waiter, asked) = (words.thread(wait.thread), isAtEnd ? nil : wait.begin)
            let targets = targets(of: entry).filter { $0 != wait.thread }
            let target = targets.isEmpty ? message(of: entry) ?? "a handler" : words.threads(targets)
            let occupied = targets.map { occupation(of: $0, at: asked, since: wait.begin) }.joined(separator: "; ")
            let lasted = ElapsedTime.text(time) + words.location(of: wait.begin, " at ")
            let often = waits.count > 1 ? ", \(words.times(waits.count)) too long" : ""
            let isProblem = isAtEnd && time > stall
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: isAtEnd
                    ? "\(waiter) waits for \(target) since \(lasted)\(occupied.isEmpty ? "." : "; \(occupied).")"
                    : "\(waiter) waited for \(target) for \(lasted)\(often)"
                        + (occupied.isEmpty ? "." : ". When it began, \(occupied)."),
                evidence: [wait.begin] + targets.prefix(1).map { record(of: $0, at: asked) },
                remedy: "Post or perform without waiting, and continue in the handler of the reply; or let "
                    + "\(targets.isEmpty ? "the other thread" : target) return to its run loop sooner."
                    + (isAtEnd ? advice(targets, at: nil, since: wait.begin) : ""),
                weight: Int(clamping: time), thread: isProblem ? targets.first ?? -1 : -1)
        }
    }

    /// Threads that wait for each other at different times of the run: the waits could deadlock (guarantee 13).
    var waitsBothWays: [Finding] {
        /// For each thread: the threads that it waits for, with the first wait.
        var waits: [Int32: [Int32: Int32]] = [:]
        for number in index.records(of: .wait) {
            let entry = index.entry(number)
            for target in targets(of: entry) where target != entry.thread {
                if waits[entry.thread]?[target] == nil { waits[entry.thread, default: [:]][target] = number }
            }
        }
        return Self.cycles(waits).map { cycle in
            let threads = (cycle + cycle.prefix(1)).map(words.thread).joined(separator: " for ")
            return Finding(
                severity: .note,
                problem: "Threads wait for each other, although not at the same time in this run: \(threads).",
                evidence: zip(cycle, cycle.dropFirst() + cycle.prefix(1)).compactMap { waits[$0]?[$1] },
                remedy: "If the waits happen at the same time, one is refused with waitWouldDeadlock. Let one of the "
                    + "threads post without waiting.", weight: cycle.count)
        }
    }

    /// Cycles of threads, each thread in at most one. A search visits at most 1,000 threads.
    private static func cycles(_ waits: [Int32: [Int32: Int32]]) -> [[Int32]] {
        var reported: Set<Int32> = []
        return waits.keys.sorted().prefix(1000).compactMap { start in
            var visited = reported
            func way(from thread: Int32) -> [Int32]? {
                guard visited.insert(thread).inserted, visited.count < 1000, let next = waits[thread] else {
                    return nil
                }
                if next[start] != nil { return [thread] }
                for other in next.keys.sorted() { if let rest = way(from: other) { return [thread] + rest } }
                return nil
            }
            let cycle = way(from: start)
            reported.formUnion(cycle ?? [])
            return cycle
        }
    }

    // MARK: What threads do while another thread waits for them

    /// The last record of a thread before another record, or before the end of the recording; -1 if it has none.
    private func record(of thread: Int32, at end: Int32?) -> Int32 {
        var last = index.threads[Int(thread)].last
        while last >= 0, last >= end ?? .max || !index.entry(last).isThreadKnown { last = index.before[Int(last)] }
        return last
    }

    /// The innermost handler or block that a thread is in.
    private func handler(of thread: Int32, at end: Int32?) -> RecordingIndex.Span? {
        let last = record(of: thread, at: end)
        guard last >= 0 else { return nil }
        let own = index.spanOfEntry[Int(last)]
        let isBegin = own >= 0 && index.spans[Int(own)].begin == last
        if isBegin, index.spans[Int(own)].ending == .notRecorded { return nil }
        let span = own < 0 ? index.spanAroundEntry[Int(last)] : isBegin ? own : index.spans[Int(own)].outer
        let handler = index.handler(span)
        return handler < 0 ? nil : index.spans[Int(handler)]
    }

    /// Advice, if one of the threads is a main thread that was in no handler and no wait, and recorded nothing, while
    /// another thread waited for it: then its run loop may not run.
    private func advice(_ threads: [Int32], at end: Int32?, since begin: Int32) -> String {
        let isSilentMain = threads.contains { thread in
            let last = record(of: thread, at: end)
            return index.isMain(thread) && last < begin && handler(of: thread, at: end) == nil
                && (last < 0 || index.entry(last).stage != .wait)
        }
        return isSilentMain ? " \(Self.asyncMain)" : ""
    }

    /// For example `main is in the handler of observer 3 of Done, added at Demo/main.swift:7, since 2 s`.
    private func occupation(of thread: Int32, at end: Int32?, since begin: Int32) -> String {
        let (name, isNow) = (words.thread(thread), end == nil)
        if let handler = handler(of: thread, at: end) {
            let time = end.map { index.time(from: handler.begin, to: $0) } ?? timeToEnd(handler.begin)
            return "\(name) \(isNow ? "is" : "was") in \(words.handler(handler))\(added(index.observer(of: handler))), "
                + "\(isNow ? "since" : "for") \(ElapsedTime.text(time))"
        }
        if !isNow { return "\(name) was in no handler" }
        let last = record(of: thread, at: nil)
        if last < 0 { return "\(name) has recorded nothing" }
        return "\(name) \(last < begin ? "has recorded nothing since" : "continues"), its last record is: "
            + words.threadAndWords(last)
    }
}
