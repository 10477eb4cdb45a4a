internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds notifications that an observer's overflow policy dropped (guarantee 12).
enum DroppedByPolicy {
    static func findings(_ index: RecordingIndex) -> [Finding] {
        /// By observer.
        var posted = Array(repeating: 0, count: index.observers.count)
        var dropped: [Int32: (count: Int, first: Int32)] = [:]
        for delivery in index.deliveries where delivery.observer >= 0 && delivery.skip < 0 {
            posted[Int(delivery.observer)] += 1
            if delivery.outcome >= 0, index.entry(delivery.outcome).stage == .drop {
                dropped[delivery.observer, default: (0, delivery.outcome)].count += 1
            }
        }
        let words = RecordWords(index)
        return dropped.map { observer, found in
            let policy = index.recording.details(of: index.entry(found.first)).map { " (\(Excerpt.of($0)))" } ?? ""
            return Finding(
                kind: .dropped, severity: .note,
                problem: "The overflow policy\(policy) of \(words.observer(observer)) dropped \(found.count) of "
                    + "\(counted(posted[Int(observer)], "notification")).",
                evidence: [words.registered(observer), found.first],
                remedy:
                    "If every notification matters, use a larger capacity, the policy .block, which slows the poster "
                    + "down, or a faster handler.",
                weight: found.count, name: index.entry(found.first).name)
        }
    }
}
