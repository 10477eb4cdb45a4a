internal import DeliveryRecording
internal import TerminalText

extension Detector {
    /// Finds threads that wait in `postAndWait` or `performAndWait` when the recording ends, or waited for longer than a
    /// stall. One finding for each thread that waits, about the wait at the end, or else the longest.
    static let longWait = Detector("longWait", "a thread waits for another, or waited for too long", limits: .stall) {
        evidence in
        let (index, words, limit) = (evidence.index, evidence.words, evidence.limits.stall.nanoseconds)
        func time(_ wait: RecordingIndex.Span) -> UInt64 {
            wait.ending == .open ? evidence.timeToEnd(wait.begin) : index.time(from: wait.begin, to: wait.end)
        }
        let long = index.spans.filter { span in
            guard evidence.isForDelivery(span) else { return false }
            return span.ending == .open
                || span.ending == .returned && index.entry(span.end).reason != .timedOut && time(span) > limit
        }
        guard !long.isEmpty else { return [] }
        let occupations = Occupations(words)
        return long.grouped(by: \.thread).map { waits in
            let wait = waits.reduce(waits[0]) { worst, next in
                next.ending == .open || worst.ending != .open && time(next) > time(worst) ? next : worst
            }
            let (entry, isAtEnd, time) = (index.entry(wait.begin), wait.ending == .open, time(wait))
            let (waiter, place) = (words.thread(wait.thread), words.location(of: wait.begin, " at "))
            let targets = evidence.targets(of: entry).filter { $0 != wait.thread }
            let others = words.threads(targets)
            let target = targets.isEmpty ? evidence.message(of: entry) ?? "a handler" : others
            let asked = isAtEnd ? nil : wait.begin
            let occupied = targets.map { occupations.words(of: $0, at: asked, since: wait.begin) }
                .joined(separator: "; ")
            let isProblem = isAtEnd && time > limit
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: isAtEnd
                    ? "\(waiter) waits for \(target) since \(ElapsedTime.text(time))\(place)"
                        + (occupied.isEmpty ? "." : "; \(occupied).")
                    : "\(waiter) waited for \(target) for \(ElapsedTime.text(time))\(place)"
                        + (waits.count > 1 ? ", \(words.times(waits.count)) too long" : "")
                        + (occupied.isEmpty ? "." : ". When it began, \(occupied)."),
                evidence: [wait.begin] + targets.prefix(1).map { occupations.record(of: $0, at: asked) },
                remedy: "Post or perform without waiting, and continue in the handler of the reply; or let "
                    + "\(targets.isEmpty ? "the other thread" : others) return to its run loop sooner."
                    + (isAtEnd ? occupations.advice(targets, at: nil, since: wait.begin) : ""),
                weight: Int(clamping: time), thread: isProblem ? targets.first ?? -1 : -1)
        }
    }
}
