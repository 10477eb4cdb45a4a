internal import DeliveryRecording

/// Finds waits that lasted for their timeout, with the handlers that the other threads were in meanwhile.
enum WaitTimedOut {
    private static let maximumNamed = 100

    static func findings(_ words: RecordWords) -> [Finding] {
        let index = words.index
        /// By the source location of the call, or by the message if the location is unknown.
        var found: [Int64: (count: Int, first: Int)] = [:]
        for (number, span) in index.spans.enumerated() where span.isWait && span.ending == .returned {
            guard index.entry(span.end).reason == .timedOut else { continue }
            found[WaitTargets.location(index.entry(span.begin)), default: (0, number)].count += 1
        }
        guard !found.isEmpty else { return [] }
        let targets = WaitTargets(index.recording)
        let mayName = found.count <= maximumNamed
        return found.values.map { found in
            let wait = index.spans[found.first]
            let waitsFor = index.recording.message(of: index.entry(wait.begin)).map {
                " for \(Excerpt.of(RecordWords.withThreadNames($0)))"
            }
            // Every handler is looked at, so the search is limited.
            let threads = mayName ? targets.of(index.entry(wait.begin)) : []
            // The innermost handlers that these threads were in when the wait ended.
            let handlers = index.spans.filter { span in
                !span.isWait && span.ending != .notRecorded && threads.contains(span.thread) && span.begin < wait.end
                    && (span.end < 0 || span.end > wait.end)
            }
            let busy = Dictionary(handlers.map { ($0.thread, $0) }) { $1 }.values.sorted { $0.begin < $1.begin }
            let meanwhile = busy.map { "\(words.thread($0.thread)) was in the handler of \(words.observer(of: $0))" }
            let duration = ElapsedTime.text(index.time(from: wait.begin, to: wait.end))
            return Finding(
                kind: .waitTimedOut, severity: .problem,
                problem: "\(words.thread(wait.thread)) waited\(waitsFor ?? "") until the timeout, after \(duration)"
                    + (found.count == 1 ? "" : ", and \(words.times(found.count - 1)) more")
                    + (busy.isEmpty ? "." : ". Meanwhile \(words.list(meanwhile))."),
                evidence: [wait.begin, busy.first?.begin ?? -1, wait.end],
                remedy: busy.isEmpty
                    ? "Check what the other thread did meanwhile: its run loop must run in one of the observer's "
                        + "modes, and no handler may hold it up. A longer timeout helps only if it is slow."
                    : "Make that handler return sooner, such as by doing its work on another thread, or allow more "
                        + "time.",
                weight: found.count)
        }
    }
}
