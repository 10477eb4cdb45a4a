internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds names that are observed and never posted, while a similar name is posted.
enum MisspeltName {
    /// Comparing names is slow, so it is limited. The first findings will reveal the rest.
    private static let maximumPosted = 1000
    private static let maximumObserved = 300

    /// - Parameters:
    ///   - observers: those whose name was never posted.
    ///   - posts: by name and process.
    static func findings(
        _ observers: [Int32], _ posts: [UInt64: NeverDelivered.Posts], _ words: RecordWords
    ) -> [Finding] {
        guard !observers.isEmpty, !posts.isEmpty else { return [] }
        let (index, recording) = (words.index, words.recording)
        var observed: Set<UInt64> = []
        for entry in recording.entries where entry.stage == .register {
            observed.insert(NeverDelivered.key(entry, index))
        }
        let candidates = posts.map { key, posts in
            (key: key, name: recording.strings[Int(key & 0xFFFF_FFFF)], entries: posts.entries)
        }.sorted { $0.entries[0] < $1.entries[0] }.prefix(maximumPosted)
        var asked: Set<UInt64> = []
        return observers.prefix(maximumObserved).compactMap { observer in
            guard let registration = index.registration(of: observer) else { return nil }
            let own = NeverDelivered.key(registration, index)
            guard asked.insert(own).inserted else { return nil }
            let word = recording.strings[Int(registration.name)]
            let near = candidates.filter { candidate in
                candidate.key >> 32 == own >> 32
                    && isNear(word, candidate.name, isObserved: observed.contains(candidate.key))
            }.min { Suggestion.distance(word, $0.name) < Suggestion.distance(word, $1.name) }
            let (registered, removed) = (words.registered(observer), index.observers[Int(observer)].removed)
            guard let near, near.entries[near.entries.count - 1] > registered, removed < 0 || near.entries[0] < removed
            else { return nil }
            let posted = Excerpt.of(near.name)
            return Finding(
                kind: .nameNeverPosted, severity: .problem,
                problem: "\(words.name(registration.name)) was never posted but is observed by "
                    + "\(recording.describeObserver(observer)). \(posted) was posted "
                    + "\(words.times(near.entries.count)).",
                evidence: [registered, near.entries[0]],
                remedy: "If both should be the same name, declare it once: "
                    + "extension Notification.Name { static let … = Self(\"\(posted)\") }",
                weight: near.entries.count, name: registration.name)
        }
    }

    /// A name that is observed itself is probably intended, unless it differs by a single letter.
    private static func isNear(_ word: String, _ candidate: String, isObserved: Bool) -> Bool {
        guard abs(word.utf8.count - candidate.utf8.count) <= max(2, candidate.utf8.count / 3) else { return false }
        // Names that differ only in digits differ on purpose.
        guard word.filter({ !$0.isNumber }) != candidate.filter({ !$0.isNumber }) else { return false }
        if word.lowercased() == candidate.lowercased() { return true }
        let distance = Suggestion.distance(word, candidate)
        if isObserved { return distance == 1 && candidate.count > 4 }
        return distance <= max(1, min(4, candidate.count / 5))
    }
}
