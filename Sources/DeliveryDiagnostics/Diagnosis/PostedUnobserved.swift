internal import DeliveryRecording

/// Finds posts that were made before the program added the first observer of their name.
enum PostedUnobserved {
    static func findings(_ histories: [NameHistory], _ words: RecordWords) -> [Finding] {
        let index = words.index
        /// By process: the first observer of any name.
        var ofAnyName: [Int32: Int32] = [:]
        for history in histories where history.name < 0 { ofAnyName[history.process] = history.registrations.first }
        return histories.compactMap { history in
            guard history.name >= 0, let registered = history.registrations.first else { return nil }
            let sender = index.entry(registered).sender
            let end = min(registered, ofAnyName[history.process] ?? .max)
            let missed = history.posts(after: -1, before: end).filter { post in
                // An observer of one sender missed only that sender's posts.
                index.entry(post).count <= 0 && (sender < 0 || index.entry(post).sender == sender)
            }
            guard let first = missed.first else { return nil }
            return Finding(
                kind: .postedUnobserved, severity: .problem,
                problem: "\(words.name(history.name)) was posted \(words.times(missed.count)) before it had an "
                    + "observer.",
                evidence: [first, registered],
                remedy: "Add the observer before you start the poster. Earlier posts are not kept: let the observer "
                    + "query the current state once after it was added.",
                weight: missed.count, name: history.name)
        }
    }
}
