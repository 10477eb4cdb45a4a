internal import DeliveryRecording

extension Detector {
    /// Finds observers that were removed before their name was posted without an observer. If such an observer never
    /// received anything, the program probably did not keep its token.
    static let removedBeforePost = Detector(
        "removedBeforePost", "an observer was removed before its name was posted without an observer"
    ) { evidence in
        let (index, words) = (evidence.index, evidence.words)
        return evidence.histories.flatMap { history -> [Finding] in
            let removals = history.registrations.map { words.removed(index.entry($0).observer) }.filter { $0 >= 0 }
                .sorted()
            guard history.name >= 0, !removals.isEmpty else { return [] }
            /// The last removal before a post without an observer, unless an observer was added since.
            func missed(_ post: Int32) -> Int32 {
                guard index.entry(post).count == 0 else { return -1 }
                let removal = removals.firstIndex(after: post) - 1
                let added = history.registrations.firstIndex(after: post) - 1
                guard removal >= 0, added >= 0, removals[removal] > history.registrations[added] else { return -1 }
                let asked = index.registration(of: index.entry(removals[removal]).observer)?.sender ?? -1
                return asked < 0 || asked == index.entry(post).sender ? removals[removal] : -1
            }
            return history.posts.filter { missed($0) >= 0 }.grouped(by: missed).compactMap { posts in
                let finding = evidence.finding(removed: missed(posts[0]), posts)
                // An observer that was replaced later was probably removed on purpose.
                let isReplaced = history.registrations[history.registrations.count - 1] > missed(posts[0])
                return isReplaced && finding.severity == .note ? nil : finding
            }
        }
    }
}

extension Evidence {
    fileprivate func finding(removed: Int32, _ posts: [Int32]) -> Finding {
        let (removal, name) = (index.entry(removed), index.entry(posts[0]).name)
        let (observer, reason, isReleased) = (removal.observer, removal.reason, removal.reason == .released)
        let counts = matches[Int(observer)].counts
        let isLikelyMistake =
            isReleased && counts[.delivered] == 0 && index.observers[Int(observer)].earlier == 0
            && words.wasRemovedAtOnce(observer)
        let lifetime = ElapsedTime.text(index.time(from: words.registered(observer), to: removed))
        let cancelled = counts[.cancelled]
        return Finding(
            severity: isLikelyMistake ? .problem : .note,
            problem: "\(words.observer(observer)) was removed \(lifetime) after it was added"
                + (isReleased ? ", because its token was released" : "")
                + (cancelled == 0 ? "" : ", and \(counted(cancelled, "notification")) for it cancelled")
                + ". Then, \(ElapsedTime.text(index.time(from: removed, to: posts[0]))) later, "
                + "\(words.name(name)) was posted \(words.times(posts.count)) without an observer.",
            evidence: [words.registered(observer), removed, posts[0]],
            // Foundation does not remove an observer when its token is released.
            remedy: removal.isFoundation || reason == .cancelled
                ? "If the observer should have received that, remove it later."
                : "If the observer should have received that, keep the token that addObserver returns: releasing it "
                    + "removes the observer. An observer that is an object is removed when the object is released.",
            weight: posts.count, name: name)
    }
}
