internal import DeliveryRecording

/// Finds names that are observed and never posted. It is a problem if a misspelt name is posted that nothing observes;
/// otherwise it is a note, if the recording is complete.
///
/// Cost: for each of the first 300 of these names, a pass over at most 1,000 posted names.
enum NameNeverPosted {
    /// The first findings will reveal the rest.
    private static let maximumPosted = 1000
    static let maximumObserved = 300

    static func findings(_ evidence: Evidence) -> [Finding] {
        let (histories, words) = (evidence.histories, evidence.words)
        let strings = words.recording.strings
        let posted = histories.filter { $0.name >= 0 && !$0.posts.isEmpty }.prefix(maximumPosted)
        let unposted = histories.filter { history in
            history.name >= 0 && !history.registrations.allSatisfy(words.isCalledByFoundation) && history.posts.isEmpty
                && !history.registrations.isEmpty
                && history.registrations.map { words.index.entry($0).observer }
                    .allSatisfy { $0 < 0 || words.index.observers[Int($0)].earlier == 0 }
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

    static let sameName =
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
            severity: .note,
            problem: "\(words.name(history.name)) was never posted but is observed\(by).",
            evidence: [registered, removed],
            remedy: "If it should have been posted, compare the names, and the centers."
                + (words.recordsFoundation
                    ? ""
                    : " A post to a Foundation center, such as NotificationCenter.default, is recorded only if the "
                        + "library observes its name there."),
            weight: 1, name: history.name)
        if let near {
            let posted = words.name(near.name)
            // The program may use both names, if the other one has its own observer.
            finding.severity = near.registrations.isEmpty ? .problem : .note
            finding.problem += " \(posted) was posted \(words.times(near.posts.count))."
            finding.evidence = [registered, near.posts[0]]
            finding.remedy =
                sameName
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
}

extension Finding.Kind {
    static let unmatchedName = Finding.Kind(
        "unmatchedName", "a name is observed and not posted, or posted without an observer")
}
