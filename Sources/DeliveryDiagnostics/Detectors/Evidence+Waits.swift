internal import DeliveryRecording
internal import TerminalText

/// Threads that wait for other threads.
extension Evidence {
    /// Waits that were refused because they would have deadlocked (guarantee 13).
    var refusedWaits: [Finding] {
        index.records(of: .refuseWait).grouped(by: place).map { waits in
            let cycle = message(of: waits[0]).map { ": \($0)" } ?? ""
            return Finding(
                problem: "A wait was refused \(words.times(waits.count)) because it would have deadlocked\(cycle).",
                evidence: [waits[0]],
                remedy: "Post without waiting, and continue in the handler of the reply.", weight: waits.count)
        }
    }

    /// Waits that lasted for their timeout.
    var timedOutWaits: [Finding] {
        index.spans.filter { $0.isWait && hasTimedOut($0) }.grouped { place(of: $0.begin) }.map { waits in
            let often = waits.count == 1 ? "" : ", and \(words.times(waits.count - 1)) more"
            return finding(.problem, waits[0], ", until the timeout\(often)", weight: waits.count)
        }
    }

    /// Threads that wait in `postAndWait` or `performAndWait` when the recording ends, for longer than a stall, and
    /// those that waited that long. One finding for each thread, about the wait at the end, or else the longest.
    var longWaits: [Finding] {
        // What the other thread does is a finding, or it has waited since before.
        let open = endlessWaits.values.filter { wait in
            let target = target(of: wait)
            return silent[target] == nil && endlessWaits[target].map { $0.begin < wait.begin } != true
        }
        let ended = index.spans.filter { wait in
            wait.ending == .returned && endlessWaits[wait.thread] == nil && duration(wait) > stall
                && isForDelivery(wait) && !hasTimedOut(wait)
        }.grouped(by: \.thread).map { waits in waits.reduce(waits[0]) { duration($1) > duration($0) ? $1 : $0 } }
        return (open + ended).map { wait in
            finding(wait.ending == .open ? .problem : .note, wait, "", weight: Int(clamping: duration(wait)))
        }
    }

    private func duration(_ wait: RecordingIndex.Span) -> UInt64 { index.duration(of: wait) ?? timeToEnd(wait.begin) }

    private func hasTimedOut(_ wait: RecordingIndex.Span) -> Bool {
        wait.ending == .returned && index.entry(wait.end).reason == .timedOut
    }

    private func finding(
        _ severity: Finding.Severity, _ wait: RecordingIndex.Span, _ rest: String, weight: Int
    ) -> Finding {
        let (isOpen, target) = (wait.ending == .open, target(of: wait))
        let last = isOpen && target >= 0 ? index.threads[Int(target)].last : -1
        // What a thread did when the wait ended is its cause only if the wait was in vain.
        let moment = isOpen ? .max : hasTimedOut(wait) ? wait.end : wait.begin
        let occupied = index.spans.last { span in
            span.thread == target && span.ending != .notRecorded && span.begin < moment
                && (span.ending == .open || span.end > moment)
        }
        let meanwhile = occupied.map { span in
            let added = words.location(of: words.registered(index.observer(of: span)), ", added at ")
            let what = span.isWait ? "waited itself" : "was in \(words.handler(span))\(added)"
            return ", while \(words.thread(target)) \(what)"
        }
        return Finding(
            severity: severity,
            problem: "\(words.thread(wait.thread)) \(isOpen ? "has waited" : "waited") "
                + "\(ElapsedTime.text(duration(wait))) for \(message(of: wait.begin) ?? "another thread")"
                + "\(words.location(of: wait.begin, " at "))\(rest)\(meanwhile ?? "").",
            evidence: [wait.begin, occupied?.begin ?? last, isOpen ? -1 : wait.end],
            remedy: "Post without waiting, or let the other thread return to its run loop sooner."
                + (index.isMain(target) && occupied == nil ? " \(Self.asyncMain)" : ""), weight: weight)
    }

    /// Two threads that wait for each other at different times of the run: the waits could deadlock (guarantee 13).
    var waitsBothWays: [Finding] {
        /// For each thread and one that it waits for: the first wait.
        let waits = Dictionary(
            index.records(of: .wait).map { (SIMD2(index.entry($0).thread, index.entry($0).target), $0) }
        ) { first, _ in first }
        return waits.compactMap { pair, wait in
            guard pair.x < pair.y, let other = waits[[pair.y, pair.x]] else { return nil }
            let (one, two) = (words.thread(pair.x), words.thread(pair.y))
            return Finding(
                severity: .note,
                problem: "\(one) waits for \(two), and \(two) for \(one), although not at the same time in this run.",
                evidence: [wait, other],
                remedy: "If they wait at the same time, one wait is refused. Let one of them post without waiting.")
        }
    }

    // MARK: A wait

    /// The thread that a wait is for; -1 if there are several.
    func target(of wait: RecordingIndex.Span) -> Int32 { index.entry(wait.begin).target }

    /// True for the waits of `postAndWait` and `performAndWait`.
    func isForDelivery(_ wait: RecordingIndex.Span) -> Bool {
        guard wait.isWait, let message = recording.message(of: index.entry(wait.begin)) else { return false }
        return message.contains(" to handle ") || message.contains(" to perform ")
    }

    /// What a wait is for, in the words of the library.
    private func message(of wait: Int32) -> String? {
        recording.message(of: index.entry(wait)).map { Excerpt.of(RecordWords.withThreadNames($0)) }
    }

    /// Waits of one source location belong together, or those with one message if the location is unknown.
    private func place(of wait: Int32) -> [Int32] {
        let entry = index.entry(wait)
        return entry.location >= 0 ? [entry.location] : [-1, entry.message]
    }
}
