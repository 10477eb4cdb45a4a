internal import DeliveryRecording
internal import TerminalText

extension Detector {
    /// Finds waits that lasted for their timeout, with the handlers that the other threads were in meanwhile.
    static let waitTimedOut = Detector("waitTimedOut", "a wait lasted for its timeout") { evidence in
        let (index, words) = (evidence.index, evidence.words)
        let found = index.spans.filter {
            $0.isWait && $0.ending == .returned && index.entry($0.end).reason == .timedOut
        }
        guard !found.isEmpty else { return [] }
        let occupations = Occupations(words)
        return found.grouped { evidence.place(of: $0.begin) }.map { waits in
            let (wait, entry) = (waits[0], index.entry(waits[0].begin))
            let targets = evidence.targets(of: entry)
            let busy = targets.filter { $0 != wait.thread && occupations.handler(of: $0, at: wait.end) != nil }
            let meanwhile = busy.map { occupations.words(of: $0, at: wait.end, since: wait.begin) }
            let handler = busy.first.flatMap { occupations.handler(of: $0, at: wait.end) }
            return Finding(
                problem: "\(words.thread(wait.thread)) waited\(evidence.message(of: entry).map { " for \($0)" } ?? "") "
                    + "until the timeout, after \(ElapsedTime.text(index.time(from: wait.begin, to: wait.end)))"
                    + words.location(of: wait.begin, ", at ")
                    + (waits.count == 1 ? "" : ", and \(words.times(waits.count - 1)) more")
                    + (busy.isEmpty ? "." : ". Then \(words.list(meanwhile))."),
                evidence: [wait.begin, handler?.begin ?? -1, wait.end],
                remedy: busy.isEmpty
                    ? "Check what the other thread did meanwhile: its run loop must run in a common "
                        + "mode, and no handler may hold it up. A longer timeout helps only if it is slow."
                        + occupations.advice(targets, at: wait.end, since: wait.begin)
                    : "Make that handler return sooner, such as by doing its work on another thread, or allow more "
                        + "time.", weight: waits.count)
        }
    }
}
