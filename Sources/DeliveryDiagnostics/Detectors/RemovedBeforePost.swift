internal import DeliveryRecording

extension Detector {
    /// Finds observers that were removed before their name was posted without an observer. If such an observer never
    /// received anything, the program probably did not keep its token.
    static let removedBeforePost = Detector(
        "removedBeforePost", "an observer was removed before its name was posted without an observer"
    ) { evidence in
        let (histories, matches, words) = (evidence.histories, evidence.matches, evidence.words)
        let index = words.index
        return histories.flatMap { history -> [Finding] in
            let removals = history.registrations.compactMap { registered -> Int32? in
                let observer = index.entry(registered).observer
                return observer < 0 || index.observers[Int(observer)].removed < 0
                    ? nil : index.observers[Int(observer)].removed
            }.sorted()
            guard history.name >= 0, !removals.isEmpty else { return [] }
            /// By removal.
            var missed: [Int32: (count: Int, first: Int32)] = [:]
            for post in history.posts where index.entry(post).count == 0 {
                let removal = removals.firstIndex(after: post) - 1
                let added = history.registrations.firstIndex(after: post) - 1
                guard removal >= 0, added >= 0, removals[removal] > history.registrations[added] else { continue }
                let asked = index.registration(of: index.entry(removals[removal]).observer)?.sender ?? -1
                guard asked < 0 || asked == index.entry(post).sender else { continue }
                missed[removals[removal], default: (0, post)].count += 1
            }
            return missed.compactMap { removed, posts in
                let observer = index.entry(removed).observer
                let finding = finding(observer, removed, posts.count, posts.first, matches[Int(observer)], words)
                // An observer that was replaced later was probably removed on purpose.
                let isReplaced = history.registrations[history.registrations.count - 1] > removed
                return isReplaced && finding.severity == .note ? nil : finding
            }
        }
    }

    private static func finding(
        _ observer: Int32, _ removed: Int32, _ count: Int, _ first: Int32, _ matches: Accounts.Account,
        _ words: RecordWords
    ) -> Finding {
        let (index, added) = (words.index, words.registered(observer))
        let lifetime = index.time(from: added, to: removed)
        let cancelled = matches.counts[.cancelled]
        let reason = index.entry(removed).reason
        let isLikelyMistake =
            reason == .released && matches.counts[.delivered] == 0 && index.observers[Int(observer)].earlier == 0
            && words.wasRemovedAtOnce(observer)
        // Foundation does not remove an observer when its token is released.
        let isRemovedByCall = index.entry(removed).isFoundation || reason == .cancelled
        let because = reason == .released ? ", because its token was released" : ""
        let andCancelled = cancelled == 0 ? "" : ", and \(counted(cancelled, "notification")) for it cancelled"
        return Finding(
            severity: isLikelyMistake ? .problem : .note,
            problem: "\(words.observer(observer)) was removed \(ElapsedTime.text(lifetime)) after it was added"
                + "\(because)\(andCancelled). Then, \(ElapsedTime.text(index.time(from: removed, to: first))) later, "
                + "\(words.name(index.entry(first).name)) was posted \(words.times(count)) without an observer.",
            evidence: [added, removed, first],
            remedy: isRemovedByCall
                ? "If the observer should have received that, remove it later."
                : "If the observer should have received that, keep the token that addObserver returns: releasing it "
                    + "removes the observer. An observer that is an object is removed when the object is released.",
            weight: count, name: index.entry(first).name)
    }
}
