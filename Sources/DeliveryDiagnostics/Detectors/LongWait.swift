internal import DeliveryRecording
internal import TerminalText

extension Detector {
    /// Finds threads that wait in `postAndWait` or `performAndWait` when the recording ends, or waited for longer than a
    /// stall. One finding for each thread that waits.
    static let longWait = Detector("longWait", "a thread waits for another, or waited for too long", limits: .stall) {
        evidence in
        let (words, limits) = (evidence.words, evidence.limits)
        let index = words.index
        let limit = limits.stall.nanoseconds
        /// By waiting thread: the wait at the end, or else the longest one, and how many were too long.
        var found: [Int32: (wait: RecordingIndex.Span, time: UInt64, count: Int)] = [:]
        for span in index.spans where span.isWait && isForDelivery(span, words) {
            let isAtEnd = span.ending == .open
            guard isAtEnd || span.ending == .returned && index.entry(span.end).reason != .timedOut else { continue }
            let end = index.processes[index.recording.process(of: index.entry(span.begin))].last
            let time = index.time(from: span.begin, to: isAtEnd ? end : span.end)
            guard isAtEnd || time > limit else { continue }
            let before = found[span.thread]
            let isWorse = before.map { isAtEnd || $0.wait.ending != .open && time > $0.time } ?? true
            found[span.thread] = (
                isWorse ? span : before?.wait ?? span, isWorse ? time : before?.time ?? time, (before?.count ?? 0) + 1
            )
        }
        guard !found.isEmpty else { return [] }
        let occupations = Occupations(words)
        return found.values.map { finding($0.wait, $0.time, $0.count, limit, occupations, words) }
    }

    /// True for the waits of `postAndWait` and `performAndWait`.
    static func isForDelivery(_ wait: RecordingIndex.Span, _ words: RecordWords) -> Bool {
        guard let message = words.recording.message(of: words.index.entry(wait.begin)) else { return false }
        return message.contains(" to handle ") || message.contains(" to perform ")
    }

    private static func finding(
        _ wait: RecordingIndex.Span, _ time: UInt64, _ count: Int, _ limit: UInt64, _ occupations: Occupations,
        _ words: RecordWords
    ) -> Finding {
        let entry = words.index.entry(wait.begin)
        let (isAtEnd, waiter) = (wait.ending == .open, words.thread(wait.thread))
        let place = words.location(of: wait.begin, " at ")
        let targets = occupations.targets.of(entry).filter { $0 != wait.thread }
        let message = words.recording.message(of: entry).map { Excerpt.of(RecordWords.withThreadNames($0)) }
        let target = targets.isEmpty ? message ?? "a handler" : words.threads(targets)
        let duration = ElapsedTime.text(time)
        let others = targets.map { occupations.words(of: $0, at: isAtEnd ? nil : wait.begin, since: wait.begin) }
        let evidence = targets.prefix(1).map { occupations.record(of: $0, at: isAtEnd ? nil : wait.begin) }
        let isSilentMain = isAtEnd && targets.contains { occupations.isSilentMain($0, at: nil, since: wait.begin) }
        let more = count > 1 ? ", \(words.times(count)) too long" : ""
        return Finding(
            severity: isAtEnd && time > limit ? .problem : .note,
            problem: isAtEnd
                ? "\(waiter) waits for \(target) since \(duration)\(place)"
                    + (others.isEmpty ? "." : "; \(others.joined(separator: "; ")).")
                : "\(waiter) waited for \(target) for \(duration)\(place)\(more)"
                    + (others.isEmpty ? "." : ". When it began, \(others.joined(separator: "; "))."),
            evidence: [wait.begin] + evidence,
            remedy: "Post or perform without waiting, and continue in the handler of the reply; or let "
                + "\(targets.isEmpty ? "the other thread" : words.threads(targets)) return to its run loop sooner."
                + (isSilentMain ? " \(asyncMain)" : ""), weight: Int(clamping: time),
            thread: isAtEnd && time > limit ? targets.first ?? -1 : -1)
    }
}
