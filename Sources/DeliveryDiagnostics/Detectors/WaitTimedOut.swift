internal import DeliveryRecording
internal import TerminalText

extension Detector {
    /// Finds waits that lasted for their timeout, with the handlers that the other threads were in meanwhile.
    static let waitTimedOut = Detector("waitTimedOut", "a wait lasted for its timeout") { evidence in
        let words = evidence.words
        let index = words.index
        /// By the source location of the call, or by the message if the location is unknown.
        var found: [Int64: (count: Int, first: Int)] = [:]
        for (number, span) in index.spans.enumerated() where span.isWait && span.ending == .returned {
            guard index.entry(span.end).reason == .timedOut else { continue }
            found[WaitTargets.location(index.entry(span.begin)), default: (0, number)].count += 1
        }
        guard !found.isEmpty else { return [] }
        let occupations = Occupations(words)
        return found.values.map { found in
            let wait = index.spans[found.first]
            let waitsFor = index.recording.message(of: index.entry(wait.begin)).map {
                " for \(Excerpt.of(RecordWords.withThreadNames($0)))"
            }
            let busy = occupations.targets.of(index.entry(wait.begin)).filter { thread in
                thread != wait.thread && occupations.handler(of: thread, at: wait.end) != nil
            }
            let meanwhile = busy.map { occupations.words(of: $0, at: wait.end, since: wait.begin) }
            let isSilentMain = occupations.targets.of(index.entry(wait.begin)).contains {
                occupations.isSilentMain($0, at: wait.end, since: wait.begin)
            }
            let duration = ElapsedTime.text(index.time(from: wait.begin, to: wait.end))
            return Finding(
                severity: .problem,
                problem: "\(words.thread(wait.thread)) waited\(waitsFor ?? "") until the timeout, after \(duration)"
                    + words.location(of: wait.begin, ", at ")
                    + (found.count == 1 ? "" : ", and \(words.times(found.count - 1)) more")
                    + (busy.isEmpty ? "." : ". Then \(words.list(meanwhile))."),
                evidence: [
                    wait.begin, busy.first.flatMap { occupations.handler(of: $0, at: wait.end) }?.begin ?? -1, wait.end,
                ],
                remedy: busy.isEmpty
                    ? "Check what the other thread did meanwhile: its run loop must run in a common "
                        + "mode, and no handler may hold it up. A longer timeout helps only if it is slow."
                        + (isSilentMain ? " \(asyncMain)" : "")
                    : "Make that handler return sooner, such as by doing its work on another thread, or allow more "
                        + "time.", weight: found.count)
        }
    }
}
