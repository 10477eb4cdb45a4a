internal import DeliveryRecording

/// Observers that never received anything, although their name was posted while they observed.
extension Evidence {
    private func silent(_ history: NameHistory, isMatched: Bool) -> [Recording.Entry] {
        history.registrations.filter { number in
            let observer = index.entry(number).observer
            return words.registered(observer) == number && hasReceivedNothing(observer)
                && (matches[Int(observer)].first >= 0) == isMatched
        }.map(index.entry)
    }

    /// Observers that matched posts. All their notifications wait, or were skipped.
    var neverServed: [Finding] {
        histories.flatMap { silent($0, isMatched: true) }.compactMap(matchedOnly)
    }

    /// Observers of a name that was posted to others. Those that were added at one location share a finding.
    ///
    /// Cost: a few passes over the posts of a name for each center, and one for each source location of its observers.
    var neverMatched: [Finding] {
        var after = [Int32](repeating: -1, count: index.before.count)
        for (number, before) in index.before.enumerated() where before >= 0 { after[Int(before)] = Int32(number) }
        return histories.filter { $0.name >= 0 && !$0.posts.isEmpty }.flatMap { history in
            silent(history, isMatched: false).grouped(by: center).flatMap { added -> [Finding] in
                let posts = MissedPosts(self, history, center: center(of: added[0]), after: after)
                return added.grouped(by: \.location).compactMap { finding(missed: posts, by: $0) }
            }
        }
    }

    /// For the first of some observers that were added at one location, and the number of the others.
    private func finding(missed posts: MissedPosts, by added: [Recording.Entry]) -> Finding? {
        let missing = added.filter { posts.missed(by: $0).first != nil }
        guard var finding = missing.first.map({ missed(posts.missed(by: $0), by: $0) }) else { return nil }
        let isTwo = missing.count == 2
        let place = added[0].location < 0 ? "" : " that \(isTwo ? "was" : "were") added at the same location"
        if missing.count > 1 {
            finding.problem +=
                " The same is true of \(isTwo ? "another one" : "\(missing.count - 1) others")\(place)."
        }
        return finding
    }

    private func finding(
        silent registration: Recording.Entry, _ evidence: Int32, weight: Int, _ cause: String, _ remedy: String
    ) -> Finding {
        Finding(
            problem: "\(words.observer(registration.observer)) never received anything: \(cause)",
            evidence: [words.registered(registration.observer), evidence], remedy: remedy, weight: weight,
            name: registration.name)
    }

    /// All its notifications wait, or were skipped; nil if another finding says so.
    private func matchedOnly(_ registration: Recording.Entry) -> Finding? {
        let (counts, first) = (counts(of: registration.observer), matches[Int(registration.observer)].first)
        let (pending, skipped) = (counts[.pending], counts[.skipped])
        guard counts[.matched] <= pending else { return nil }
        guard pending > 0 else {
            // An observer that is removed during a post is skipped too.
            let removed = words.removed(registration.observer)
            if removed >= 0, skipped == 1 || removed < first { return nil }
            let all = skipped == 1 ? "its only notification" : "all \(skipped) notifications"
            return finding(
                silent: registration, first, weight: skipped, "its transform returned nil for \(all).",
                "Compare what the transform expects in userInfo and object with what is posted. It returned nil each "
                    + "time, or the observer was removed during the post.")
        }
        // The thread's end is reported by another finding.
        if registration.target >= 0, index.threads[Int(registration.target)].end >= 0 { return nil }
        let posted = words.posted(index.entry(first))
        let target = registration.target >= 0 ? registration.target : index.entry(first).target
        var finding = finding(
            silent: registration, first, weight: pending,
            "\(counted(pending, "notification")) for it \(pending == 1 ? "is" : "are") still waiting "
                + (target < 0 ? "" : "for \(words.thread(target)) ") + "when the recording ends"
                + (posted < 0 ? "." : ", the first posted \(by(posted))."),
            target >= 0
                ? "Make \(words.numberedThread(target)) run its run loop in a common mode. If the thread was going to do "
                    + "that, make the program wait for it before it ends."
                    + (index.isMain(target) ? " \(Self.asyncMain)" : "")
                : "If the observer is for a RunLoopThread, call its start(). If its handler is async, make the program "
                    + "wait for it before it ends.")
        finding.thread = target
        // An async handler may be running.
        if target < 0 || !words.hasExited(recording.process(of: registration)) { finding.severity = .note }
        return finding
    }

    private func missed(_ posts: some Sequence<Int32>, by registration: Recording.Entry) -> Finding {
        let posts = Array(posts)
        let often = "its name was posted \(words.times(posts.count))"
        guard let asked = recording.sender(of: registration) else {
            return finding(
                silent: registration, posts[0], weight: posts.count, "\(often), but to another center.",
                "Observe at the center that the program posts to. A post to a ThreadedNotificationCenter does not reach "
                    + "Foundation centers, and a ThreadedNotificationCenter captures posts of one Foundation center only."
            )
        }
        let another = recording.sender(of: index.entry(posts[0])).map { "another object, such as \($0.words)." }
        return finding(
            silent: registration, posts[0], weight: posts.count,
            "it observes only \(asked.words), but \(often) with \(another ?? "no object.")",
            "Post with the same object, or observe with object: nil. "
                + (registration.isFoundation
                    ? "NotificationCenter compares objects by identity: a value, such as a String, is never the same."
                    : "Objects are compared by identity, hashable values by equality."))
    }

    /// The Foundation center of a post or an observer; nil for those of the library.
    fileprivate func center(of entry: Recording.Entry) -> String? {
        entry.isFoundation ? recording.foundationDetails(of: entry)?.center ?? "" : nil
    }
}

/// The posts of a name that an observer surely missed.
private struct MissedPosts {
    private let evidence: Evidence
    /// For each entry: the entry of the same thread after it, or -1.
    private let after: [Int32]
    /// Posts with an object that no observer asks for.
    private let others: [Int32]
    private let bySender: [Int32: [Int32]]
    /// Posts to another center.
    private let elsewhere: [Int32]

    init(_ evidence: Evidence, _ history: NameHistory, center: String?, after: [Int32]) {
        (self.evidence, self.after) = (evidence, after)
        let index = evidence.index
        let senders = Set(history.registrations.map { index.entry($0).sender })
        others = history.posts.filter { !senders.contains(index.entry($0).sender) || index.entry($0).sender < 0 }
        bySender = Dictionary(grouping: history.posts) { index.entry($0).sender }
        // A post that matched more observers than have records may have matched this one, too.
        let areCounted = history.posts.allSatisfy { index.entry($0).count >= 0 }
        elsewhere = history.posts.filter { number in
            let post = index.entry(number)
            return areCounted && (post.post < 0 || post.count <= index.posts[Int(post.post)].deliveryCount)
                // An operation queue that was released runs no handlers.
                && (center == nil || evidence.center(of: post) != center)
        }
    }

    func missed(by registration: Recording.Entry) -> LazyFilterSequence<ArraySlice<Int32>> {
        let (index, words) = (evidence.index, evidence.words)
        let (registered, removed) = (words.registered(registration.observer), words.removed(registration.observer))
        // Only posts made while it observed could match it.
        let end = removed < 0 ? .max : removed
        if registration.sender >= 0 {
            // If its own sender posted, it observed another center, or the recording is truncated. Posts of senders
            // that other observers ask for are intended for those, and may be all of this run's posts.
            let own = bySender[registration.sender, default: []].numbers(after: registered, before: end)
            return (own.isEmpty ? others.numbers(after: registered, before: end) : []).lazy.filter { _ in true }
        }
        // A registration is recorded before the observer is added, a removal after it is removed, and a post after it
        // is matched. So the records of their threads before and after decide whether the post was surely in between.
        let (adding, removing) = (registration.thread, removed < 0 ? -1 : index.entry(removed).thread)
        let added = after[Int(registered)] < 0 ? .max : after[Int(registered)]
        let left = removed < 0 ? .max - 1 : index.before[Int(removed)]
        return elsewhere.numbers(after: registered, before: min(end, left + 1)).lazy.filter { number in
            let thread = index.entry(number).thread
            return (thread == removing || number < left) && (thread == adding || index.before[Int(number)] > added)
        }
    }
}
