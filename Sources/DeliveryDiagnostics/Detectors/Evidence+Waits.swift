internal import DeliveryRecording

/// Threads that wait for other threads.
extension Evidence {
    /// Waits that were refused because they would have deadlocked (guarantee 13).
    var refusedWaits: [Finding] {
        index.records(of: .refuseWait).grouped(by: place).map { waits in
            let cycle = message(of: index.entry(waits[0])).map { ": \($0)" } ?? ""
            return Finding(
                problem: "A wait was refused \(words.times(waits.count)) because it would have deadlocked\(cycle).",
                evidence: [waits[0]],
                remedy: "Do not wait in a handler for a thread that may wait for this one: post without waiting, and "
                    + "continue in the handler of the reply.", weight: waits.count)
        }
    }

    /// Waits that lasted for their timeout.
    var timedOutWaits: [Finding] {
        index.spans.filter { $0.isWait && hasTimedOut($0) }.grouped { place(of: $0.begin) }.map { waits in
            let often = waits.count == 1 ? "" : ", and \(words.times(waits.count - 1)) more"
            return finding(.problem, waits[0], until: waits[0].end, ", until the timeout\(often)", weight: waits.count)
        }
    }

    /// Threads that wait in `postAndWait` or `performAndWait` when the recording ends, for longer than a stall, and
    /// those that waited that long. One finding for each thread, about the wait at the end, or else the longest.
    var longWaits: [Finding] {
        let open = endlessWaits.filter { !isExplained($1) }.map(\.value)
        let ended = index.spans.filter { wait in
            wait.ending == .returned && endlessWaits[wait.thread] == nil && duration(wait) > stall
                && isForDelivery(wait) && !hasTimedOut(wait)
        }.grouped(by: \.thread).map { waits in waits.reduce(waits[0]) { duration($1) > duration($0) ? $1 : $0 } }
        return open.map { finding(.problem, $0, until: .max, "", weight: Int(clamping: timeToEnd($0.begin))) }
            + ended.map { finding(.note, $0, until: $0.begin, "", weight: Int(clamping: duration($0))) }
    }

    private func duration(_ wait: RecordingIndex.Span) -> UInt64 { index.duration(of: wait) ?? 0 }

    private func hasTimedOut(_ wait: RecordingIndex.Span) -> Bool {
        wait.ending == .returned && index.entry(wait.end).reason == .timedOut
    }

    /// True for a wait for a thread that a finding is about, or that has waited since before.
    private func isExplained(_ wait: RecordingIndex.Span) -> Bool {
        targets(of: index.entry(wait.begin)).contains { target in
            silent[target] != nil || endlessWaits[target].map { $0.begin < wait.begin } == true
        }
    }

    /// - Parameter end: the record before which the other thread was occupied.
    private func finding(
        _ severity: Finding.Severity, _ wait: RecordingIndex.Span, until end: Int32, _ rest: String, weight: Int
    ) -> Finding {
        let (entry, isOpen) = (index.entry(wait.begin), wait.ending == .open)
        let target = targets(of: entry).first { $0 != wait.thread } ?? -1
        let occupied = index.spans.last { span in
            span.thread == target && span.begin < end && span.ending != .notRecorded
                && (span.ending == .open || span.end > end)
        }
        let meanwhile = occupied.map { span in
            ", while \(words.thread(target)) "
                + (span.isWait ? "waited itself" : "was in \(words.handler(span))\(added(index.observer(of: span)))")
        }
        var last = target < 0 ? -1 : index.threads[Int(target)].last
        while !isOpen, last > wait.end { last = index.before[Int(last)] }
        let isSilentMain = index.isMain(target) && occupied == nil && last < wait.begin
        return Finding(
            severity: severity,
            problem: "\(words.thread(wait.thread)) \(isOpen ? "has waited" : "waited") "
                + "\(ElapsedTime.text(isOpen ? timeToEnd(wait.begin) : duration(wait))) for "
                + "\(message(of: entry) ?? "another thread")\(words.location(of: wait.begin, " at "))\(rest)"
                + "\(meanwhile ?? "").",
            evidence: [wait.begin, occupied?.begin ?? (isOpen ? last : -1), isOpen ? -1 : wait.end],
            remedy: "Post or perform without waiting, and continue in the handler of the reply; or let "
                + "\(target < 0 ? "the other thread" : words.thread(target)) return to its run loop sooner."
                + (isSilentMain ? " \(Self.asyncMain)" : ""), weight: weight)
    }

    /// Two threads that wait for each other at different times of the run: the waits could deadlock (guarantee 13).
    var waitsBothWays: [Finding] {
        /// For each thread and one that it waits for: the first wait.
        var waits: [SIMD2<Int32>: Int32] = [:]
        for number in index.records(of: .wait).reversed() {
            for target in targets(of: index.entry(number)) { waits[[index.entry(number).thread, target]] = number }
        }
        return waits.compactMap { pair, wait in
            guard pair.x < pair.y, let other = waits[[pair.y, pair.x]] else { return nil }
            let (one, two) = (words.thread(pair.x), words.thread(pair.y))
            return Finding(
                severity: .note,
                problem: "\(one) waits for \(two), and \(two) for \(one), although not at the same time in this run.",
                evidence: [wait, other],
                remedy: "If the waits happen at the same time, one is refused with waitWouldDeadlock. Let one of the "
                    + "threads post without waiting.")
        }
    }
}
