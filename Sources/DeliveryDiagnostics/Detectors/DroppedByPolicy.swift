internal import DeliveryRecording
internal import TerminalText

extension Detector {
    /// Finds notifications that an observer's overflow policy dropped (guarantee 12).
    static let dropped = Detector("dropped", "an observer's overflow policy dropped notifications") { evidence in
        let words = evidence.words
        return zip(Int32(0)..., evidence.matches).filter { $1.counts[.dropped] > 0 }.map { observer, matches in
            let drop = words.index.entry(matches.firstDrop)
            let policy = words.recording.details(of: drop).map { " (\(Excerpt.of($0)))" } ?? ""
            return Finding(
                severity: .note,
                problem: "The overflow policy\(policy) of \(words.observer(observer)) dropped "
                    + "\(matches.counts[.dropped]) of \(counted(matches.counts[.matched], "notification")).",
                evidence: [words.registered(observer), matches.firstDrop],
                remedy: "If every notification matters, use a larger capacity or a faster handler, or post less.",
                weight: matches.counts[.dropped], name: drop.name)
        }
    }
}
