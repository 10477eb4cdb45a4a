internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds waits that lasted for their timeout.
enum WaitTimedOut {
    static func findings(_ index: RecordingIndex) -> [Finding] {
        /// By the source location of the call, or by the message if the location is unknown.
        var found: [Int64: (count: Int, first: Int)] = [:]
        for (number, span) in index.spans.enumerated() where span.isWait && span.ending == .returned {
            guard index.entry(span.end).reason == .timedOut else { continue }
            let begin = index.entry(span.begin)
            let key = begin.place >= 0 ? Int64(begin.place) : -1 - Int64(begin.message)
            found[key, default: (0, number)].count += 1
        }
        let words = RecordWords(index)
        return found.values.map { found in
            let span = index.spans[found.first]
            let waitsFor = index.recording.message(of: index.entry(span.begin)).map { " for \(Excerpt.of($0))" } ?? ""
            let duration = ElapsedTime.text(index.time(from: span.begin, to: span.end))
            return Finding(
                kind: .waitTimedOut, severity: .problem,
                problem: "\(words.thread(span.thread)) waited\(waitsFor) until the timeout, after \(duration)"
                    + "\(found.count == 1 ? "" : ", and \(words.times(found.count - 1)) more").",
                evidence: [span.begin, span.end],
                remedy: "Check what the other thread did meanwhile: its run loop must run in one of the observer's "
                    + "modes, and no handler may hold it up. A longer timeout helps only if it is slow.",
                weight: found.count)
        }
    }
}
