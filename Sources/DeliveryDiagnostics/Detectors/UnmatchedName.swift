internal import DeliveryRecording

extension Detector {
    /// Finds names that are observed and never posted, and posts without an observer.
    static let unmatchedName = Detector(
        "unmatchedName", "a name is observed and not posted, or posted without an observer",
        formerly: ["nameNeverPosted", "postedUnobserved"]
    ) { $0.neverPosted + $0.unobserved }

    fileprivate static let sameName =
        "If both should be the same name, declare it once, as a constant in an extension of Notification.Name, and "
        + "post and observe with that."
}

/// The posts and observers of a name, and its words.
private struct NamedHistory {
    let history: NameHistory
    let words: NameWords
}

extension Evidence {
    /// The first findings will reveal the rest, so only so many names are compared.
    private func named(_ most: Int, where isIncluded: (NameHistory) -> Bool) -> [NamedHistory] {
        histories.filter { $0.name >= 0 && isIncluded($0) }.prefix(most).map {
            NamedHistory(history: $0, words: NameWords(recording.strings[Int($0.name)]))
        }
    }

    /// Names that are observed and never posted. It is a problem if a misspelt name is posted that nothing observes;
    /// otherwise it is a note, if the recording is complete.
    ///
    /// Cost: for each of the first 300 of these names, a pass over at most 1,000 posted names.
    fileprivate var neverPosted: [Finding] {
        let posted = named(1000) { !$0.posts.isEmpty }
        let unposted = named(300) { history in
            history.posts.isEmpty && !history.registrations.isEmpty
                && !history.registrations.allSatisfy(words.isCalledByFoundation)
                && history.registrations.map { index.entry($0).observer }.allSatisfy {
                    $0 < 0 || index.observers[Int($0)].earlier == 0
                }
        }
        return unposted.compactMap { name in
            let (history, registered) = (name.history, name.history.registrations[0])
            let removed = words.removed(index.entry(registered).observer)
            let ofProcess = posted.filter { $0.history.process == history.process }
            let near = ofProcess.first { other in
                (name.words.isMisspelt(other.words)
                    || other.history.registrations.isEmpty && name.words.isWithoutModule(other.words))
                    && other.history.posts[other.history.posts.count - 1] > registered
                    && (removed < 0 || other.history.posts[0] < removed)
            }?.history
            guard near?.registrations.isEmpty == true || recording.completeness[Int(history.process)].isComplete
            else { return nil }
            return finding(neverPosted: history, near, ofProcess.map(\.history).filter(\.registrations.isEmpty))
        }
    }

    private func finding(
        neverPosted history: NameHistory, _ near: NameHistory?, _ unobserved: [NameHistory]
    ) -> Finding {
        let registered = history.registrations[0]
        let observer = index.entry(registered).observer
        let removed = words.removed(observer)
        let by = observer < 0 ? "" : " by \(recording.describeObserver(observer))"
        var finding = Finding(
            severity: .note, problem: "\(words.name(history.name)) was never posted but is observed\(by).",
            evidence: [registered, removed],
            remedy: "If it should have been posted, compare the names, and the centers."
                + (words.recordsFoundation
                    ? ""
                    : " A post to a Foundation center, such as NotificationCenter.default, is recorded only if the "
                        + "library observes its name there."),
            name: history.name, formerKind: "nameNeverPosted")
        if let near {
            // The program may use both names, if the other one has its own observer.
            finding.severity = near.registrations.isEmpty ? .problem : .note
            finding.problem += " \(words.name(near.name)) was posted \(words.times(near.posts.count))."
            finding.evidence = [registered, near.posts[0]]
            (finding.remedy, finding.weight) = (Detector.sameName, near.posts.count)
            return finding
        }
        if removed >= 0 {
            let lifetime = ElapsedTime.text(index.time(from: registered, to: removed))
            finding.problem += " The observer was removed \(lifetime) after it was added."
        }
        if words.wasRemovedAtOnce(observer), index.entry(removed).reason != .cancelled {
            finding.remedy =
                "Keep the token that addObserver returns: releasing it removes the observer. " + finding.remedy
        }
        let others = words.list(unobserved.map { "\(words.name($0.name)) (\(words.times($0.posts.count)))" })
        if !others.isEmpty { finding.details = ["posted without an observer: \(others)"] }
        return finding
    }

    /// Posts that were made before the program added the first observer of their name, and posted names that differ by
    /// a letter from an observed one.
    fileprivate var unobserved: [Finding] {
        /// By process: the first observer of any name.
        var ofAnyName: [Int32: Int32] = [:]
        for history in histories where history.name < 0 { ofAnyName[history.process] = history.registrations.first }
        let observed = named(300) { !$0.registrations.isEmpty && !$0.posts.isEmpty }
        return histories.filter { $0.name >= 0 }.compactMap { history -> Finding? in
            func note(_ posts: Int, _ problem: String, _ evidence: [Int32], _ remedy: String) -> Finding {
                Finding(
                    severity: .note, problem: "\(words.name(history.name)) was posted \(words.times(posts)) \(problem)",
                    evidence: evidence, remedy: remedy, weight: posts, name: history.name,
                    formerKind: "postedUnobserved")
            }
            guard let registered = history.registrations.first else {
                guard let first = history.posts.first, index.entry(first).count <= 0, !observed.isEmpty,
                    case let name = NameWords(recording.strings[Int(history.name)]),
                    let near = observed.first(where: {
                        $0.history.process == history.process && name.isMisspelt($0.words)
                    })?.history
                else { return nil }
                return note(
                    history.posts.count, "and has no observer. \(words.name(near.name)) has one.",
                    [first, near.registrations[0]], Detector.sameName)
            }
            let sender = index.entry(registered).sender
            let end = min(registered, ofAnyName[history.process] ?? .max)
            let missed = history.posts(after: -1, before: end).filter { post in
                // An observer of one sender missed only that sender's posts.
                index.entry(post).count <= 0 && (sender < 0 || index.entry(post).sender == sender)
            }
            guard let first = missed.first else { return nil }
            var finding = note(
                missed.count, "before it had an observer.", [first, registered],
                "Add the observer before you start the poster. Earlier posts are not kept: let the observer query the "
                    + "current state once after it was added.")
            finding.severity = .problem
            return finding
        }
    }
}
