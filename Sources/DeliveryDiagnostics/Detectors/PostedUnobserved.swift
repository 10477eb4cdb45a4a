internal import DeliveryRecording

/// Finds posts that were made before the program added the first observer of their name, and posted names that differ
/// by a letter from an observed one.
enum PostedUnobserved {
    static func findings(_ evidence: Evidence) -> [Finding] {
        let (histories, words) = (evidence.histories, evidence.words)
        let index = words.index
        /// By process: the first observer of any name.
        var ofAnyName: [Int32: Int32] = [:]
        for history in histories where history.name < 0 { ofAnyName[history.process] = history.registrations.first }
        let observed = histories.filter { $0.name >= 0 && !$0.registrations.isEmpty && !$0.posts.isEmpty }
            .prefix(NameNeverPosted.maximumObserved)
            .map { (history: $0, words: NameWords(words.recording.strings[Int($0.name)])) }
        return histories.compactMap { history in
            guard history.name >= 0 else { return nil }
            guard let registered = history.registrations.first else { return misspelt(history, observed, words) }
            let sender = index.entry(registered).sender
            let end = min(registered, ofAnyName[history.process] ?? .max)
            let missed = history.posts(after: -1, before: end).filter { post in
                // An observer of one sender missed only that sender's posts.
                index.entry(post).count <= 0 && (sender < 0 || index.entry(post).sender == sender)
            }
            guard let first = missed.first else { return nil }
            return Finding(
                severity: .problem,
                problem: "\(words.name(history.name)) was posted \(words.times(missed.count)) before it had an "
                    + "observer.",
                evidence: [first, registered],
                remedy: "Add the observer before you start the poster. Earlier posts are not kept: let the observer "
                    + "query the current state once after it was added.",
                weight: missed.count, name: history.name)
        }
    }

    private static func misspelt(
        _ history: NameHistory, _ observed: [(history: NameHistory, words: NameWords)], _ words: RecordWords
    ) -> Finding? {
        guard !observed.isEmpty, let first = history.posts.first, words.index.entry(first).count <= 0,
            case let name = NameWords(words.recording.strings[Int(history.name)]),
            let near = observed.first(where: { other, words in
                other.process == history.process && name.isMisspelt(words)
            })?.history
        else { return nil }
        return Finding(
            severity: .note,
            problem: "\(words.name(history.name)) was posted \(words.times(history.posts.count)) and has no observer. "
                + "\(words.name(near.name)) has one.",
            evidence: [first, near.registrations[0]], remedy: NameNeverPosted.sameName, weight: history.posts.count,
            name: history.name)
    }
}
