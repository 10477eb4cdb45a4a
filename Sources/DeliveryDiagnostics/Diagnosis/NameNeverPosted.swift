internal import DeliveryRecording

/// Finds names that are observed and never posted. It is a problem if a similar name is posted; otherwise it is a note,
/// if the recording is complete.
enum NameNeverPosted {
    /// Comparing names is slow, so it is limited. The first findings will reveal the rest.
    private static let maximumPosted = 1000
    private static let maximumObserved = 300

    static func findings(_ histories: [NameHistory], _ words: RecordWords) -> [Finding] {
        let strings = words.recording.strings
        let posted = histories.filter { $0.name >= 0 && !$0.posts.isEmpty }.prefix(maximumPosted)
        let unposted = histories.filter { history in
            history.name >= 0 && history.posts.isEmpty && !history.registrations.isEmpty
                && history.registrations.allSatisfy { received(nothing: words.index.entry($0).observer, words.index) }
        }
        return unposted.prefix(maximumObserved).compactMap { history in
            let (word, registered) = (strings[Int(history.name)], history.registrations[0])
            let removed = words.removed(words.index.entry(registered).observer)
            let ofProcess = posted.filter { $0.process == history.process }
            let near = ofProcess.filter { other in
                isNear(word, strings[Int(other.name)], isObserved: !other.registrations.isEmpty)
                    && other.posts[other.posts.count - 1] > registered && (removed < 0 || other.posts[0] < removed)
            }.min {
                Suggestion.distance(word, strings[Int($0.name)]) < Suggestion.distance(word, strings[Int($1.name)])
            }
            if let near { return misspelt(history, near, words) }
            guard words.recording.completeness[Int(history.process)].isComplete else { return nil }
            return note(history, posted: ofProcess.filter(\.registrations.isEmpty), words)
        }
    }

    /// True if the observer received nothing from before the recording either.
    private static func received(nothing observer: Int32, _ index: RecordingIndex) -> Bool {
        observer < 0 || index.observers[Int(observer)].earlier == 0
    }

    private static func problem(_ history: NameHistory, _ words: RecordWords) -> String {
        let observer = words.index.entry(history.registrations[0]).observer
        let by = observer < 0 ? "" : " by \(words.recording.describeObserver(observer))"
        return "\(words.name(history.name)) was never posted but is observed\(by)."
    }

    private static func misspelt(_ history: NameHistory, _ near: NameHistory, _ words: RecordWords) -> Finding {
        let posted = words.name(near.name)
        return Finding(
            kind: .nameNeverPosted, severity: .problem,
            problem: "\(problem(history, words)) \(posted) was posted \(words.times(near.posts.count)).",
            evidence: [history.registrations[0], near.posts[0]],
            remedy: "If both should be the same name, declare it once: "
                + "extension Notification.Name { static let … = Self(\"\(posted)\") }",
            weight: near.posts.count, name: history.name)
    }

    private static func note(_ history: NameHistory, posted: [NameHistory], _ words: RecordWords) -> Finding {
        let registered = history.registrations[0]
        let removed = words.removed(words.index.entry(registered).observer)
        let lifetime = removed < 0 ? nil : words.index.time(from: registered, to: removed)
        let others = words.list(posted.map { "\(words.name($0.name)) (\(words.times($0.posts.count)))" })
        return Finding(
            kind: .nameNeverPosted, severity: .note,
            problem: problem(history, words)
                + (lifetime.map { " The observer was removed \(ElapsedTime.text($0)) after it was added." } ?? ""),
            evidence: [registered, removed],
            details: others.isEmpty ? [] : ["posted without an observer: \(others)"],
            remedy: (words.wasRemovedAtOnce(words.index.entry(registered).observer)
                ? "Keep the token that addObserver returns: releasing it removes the observer. " : "")
                + "If it should have been posted, compare the names, and the centers. A post to a Foundation center, "
                + "such as NotificationCenter.default, is recorded only if the library observes its name there.",
            weight: 1, name: history.name)
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
