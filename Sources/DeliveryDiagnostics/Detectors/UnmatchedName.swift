internal import DeliveryRecording

extension Detector {
    /// The first findings will reveal the rest.
    private static let maximumPosted = 1000
    private static let maximumObserved = 300

    /// Finds names that are observed and never posted, and posts without an observer.
    static let unmatchedName = Detector(
        "unmatchedName", "a name is observed and not posted, or posted without an observer",
        formerly: ["nameNeverPosted", "postedUnobserved"]
    ) { neverPosted($0) + unobserved($0) }

    /// Names that are observed and never posted. It is a problem if a misspelt name is posted that nothing observes;
    /// otherwise it is a note, if the recording is complete.
    ///
    /// Cost: for each of the first 300 of these names, a pass over at most 1,000 posted names.
    private static func neverPosted(_ evidence: Evidence) -> [Finding] {
        let (histories, words) = (evidence.histories, evidence.words)
        let strings = words.recording.strings
        let posted = histories.filter { $0.name >= 0 && !$0.posts.isEmpty }.prefix(maximumPosted)
        let unposted = histories.filter { history in
            history.name >= 0 && !history.registrations.allSatisfy(words.isCalledByFoundation) && history.posts.isEmpty
                && !history.registrations.isEmpty
                && history.registrations.map { words.index.entry($0).observer }.allSatisfy {
                    $0 < 0 || words.index.observers[Int($0)].earlier == 0
                }
        }
        let candidates = posted.map { (history: $0, words: NameWords(strings[Int($0.name)])) }
        return unposted.prefix(maximumObserved).compactMap { history in
            let (name, registered) = (NameWords(strings[Int(history.name)]), history.registrations[0])
            let removed = words.removed(words.index.entry(registered).observer)
            let ofProcess = posted.filter { $0.process == history.process }
            let near = candidates.first { other, words in
                (name.isMisspelt(words) || other.registrations.isEmpty && name.isWithoutModule(words))
                    && other.process == history.process && other.posts[other.posts.count - 1] > registered
                    && (removed < 0 || other.posts[0] < removed)
            }?.history
            let isComplete = words.recording.completeness[Int(history.process)].isComplete
            guard near?.registrations.isEmpty == true || isComplete else { return nil }
            return finding(history, near, unobserved: ofProcess.filter(\.registrations.isEmpty), words)
        }
    }

    private static let sameName =
        "If both should be the same name, declare it once, as a constant in an extension of Notification.Name, and "
        + "post and observe with that."

    private static func finding(
        _ history: NameHistory, _ near: NameHistory?, unobserved: [NameHistory], _ words: RecordWords
    ) -> Finding {
        let registered = history.registrations[0]
        let observer = words.index.entry(registered).observer
        let removed = words.removed(observer)
        let by = observer < 0 ? "" : " by \(words.recording.describeObserver(observer))"
        var finding = Finding(
            severity: .note, problem: "\(words.name(history.name)) was never posted but is observed\(by).",
            evidence: [registered, removed],
            remedy: "If it should have been posted, compare the names, and the centers."
                + (words.recordsFoundation
                    ? ""
                    : " A post to a Foundation center, such as NotificationCenter.default, is recorded only if the "
                        + "library observes its name there."),
            weight: 1, name: history.name, formerKind: "nameNeverPosted")
        if let near {
            let posted = words.name(near.name)
            // The program may use both names, if the other one has its own observer.
            finding.severity = near.registrations.isEmpty ? .problem : .note
            finding.problem += " \(posted) was posted \(words.times(near.posts.count))."
            finding.evidence = [registered, near.posts[0]]
            finding.remedy = sameName
            finding.weight = near.posts.count
            return finding
        }
        if removed >= 0 {
            let lifetime = ElapsedTime.text(words.index.time(from: registered, to: removed))
            finding.problem += " The observer was removed \(lifetime) after it was added."
        }
        if words.wasRemovedAtOnce(observer), words.index.entry(removed).reason != .cancelled {
            finding.remedy =
                "Keep the token that addObserver returns: releasing it removes the observer. " + finding.remedy
        }
        let others = words.list(unobserved.map { "\(words.name($0.name)) (\(words.times($0.posts.count)))" })
        if !others.isEmpty { finding.details = ["posted without an observer: \(others)"] }
        return finding
    }

    /// Posts that were made before the program added the first observer of their name, and posted names that differ by
    /// a letter from an observed one.
    private static func unobserved(_ evidence: Evidence) -> [Finding] {
        let (histories, words) = (evidence.histories, evidence.words)
        let index = words.index
        /// By process: the first observer of any name.
        var ofAnyName: [Int32: Int32] = [:]
        for history in histories where history.name < 0 { ofAnyName[history.process] = history.registrations.first }
        let observed = histories.filter { $0.name >= 0 && !$0.registrations.isEmpty && !$0.posts.isEmpty }.prefix(
            maximumObserved
        ).map { (history: $0, words: NameWords(words.recording.strings[Int($0.name)])) }
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
                    + "observer.", evidence: [first, registered],
                remedy: "Add the observer before you start the poster. Earlier posts are not kept: let the observer "
                    + "query the current state once after it was added.", weight: missed.count, name: history.name,
                formerKind: "postedUnobserved")
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
                + "\(words.name(near.name)) has one.", evidence: [first, near.registrations[0]], remedy: sameName,
            weight: history.posts.count, name: history.name, formerKind: "postedUnobserved")
    }
}
