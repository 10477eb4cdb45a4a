internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds notifications that an observer's overflow policy dropped (guarantee 12).
enum DroppedByPolicy {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        var found: [Int32: (dropped: Int, posted: Int, first: Int32)] = [:]
        for pair in index.pairs where pair.observer >= 0 && pair.skip < 0 {
            let isDropped = pair.outcome >= 0 && index.entry(pair.outcome).stage == .drop
            guard isDropped || found[pair.observer] != nil else { continue }
            found[pair.observer, default: (0, 0, pair.outcome)].dropped += isDropped ? 1 : 0
        }
        guard !found.isEmpty else { return [] }
        for pair in index.pairs where pair.observer >= 0 && pair.skip < 0 {
            if let all = found[pair.observer] { found[pair.observer] = (all.dropped, all.posted + 1, all.first) }
        }
        let words = DiagnosisWords(index)
        return found.map { observer, found in
            let policy = index.recording.details(of: index.entry(found.first)).map { " (\(Excerpt.of($0)))" } ?? ""
            return Finding(
                kind: .dropped, severity: .note,
                problem: "The overflow policy\(policy) of \(words.observer(observer)) dropped \(found.dropped) of "
                    + "\(words.count(found.posted, "notification")).",
                evidence: [index.registered[Int(observer)], found.first].filter { $0 >= 0 },
                remedy:
                    "If every notification matters, use a larger capacity, the policy .block, which slows the poster "
                    + "down, or a faster handler.",
                weight: found.dropped)
        }
    }
}
