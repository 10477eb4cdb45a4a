internal import DeliveryRecording

extension Detector {
    /// Finds observers that never received anything, although their name was posted while they observed.
    ///
    /// Cost: a few passes over the posts of a name, and a binary search for each of its observers.
    static let neverDelivered = Detector(
        "neverDelivered", "an observer never received what was posted while it observed"
    ) { evidence in
        var after = [Int32](repeating: -1, count: evidence.index.before.count)
        for (number, before) in evidence.index.before.enumerated() where before >= 0 {
            after[Int(before)] = Int32(number)
        }
        return evidence.histories.flatMap { history in
            var ofName = NeverDelivered(evidence: evidence, history: history, after: after)
            return ofName.findings()
        }
    }
}

/// The observers of a name that received nothing.
private struct NeverDelivered {
    /// Findings of more locations count at most this number of posts.
    private static let (mostExactFindings, mostCounted) = (10, 100)

    let evidence: Evidence
    let history: NameHistory
    /// For each entry: the entry of the same thread after it, or -1.
    let after: [Int32]
    private var index: RecordingIndex { evidence.index }
    private var words: RecordWords { evidence.words }
    /// The posts of senders that no observer asks for.
    private lazy var otherPosts = {
        let senders = Set(history.registrations.map { [index] in index.entry($0).sender })
        return history.posts.filter { [index] in !senders.contains(index.entry($0).sender) || index.entry($0).sender < 0
        }
    }()
    private lazy var postsBySender = Dictionary(grouping: history.posts) { [index] in index.entry($0).sender }
    /// By Foundation center, or nil: the posts that were surely made to another center.
    private var postsElsewhere: [String?: [Int32]] = [:]

    init(evidence: Evidence, history: NameHistory, after: [Int32]) {
        (self.evidence, self.history, self.after) = (evidence, history, after)
    }

    mutating func findings() -> [Finding] {
        var findings: [Finding] = []
        /// By the source location of the registration, or -1. Observers of one location share a finding.
        var byLocation: [Int32: [Finding]] = [:]
        for number in history.registrations {
            let registration = index.entry(number)
            let observer = registration.observer
            guard words.registered(observer) == number, case let matches = evidence.matches[Int(observer)],
                matches.counts[.delivered] == 0, index.observers[Int(observer)].earlier == 0
            else { continue }
            if matches.first >= 0 {
                findings += [matched(registration, matches)].compactMap(\.self)
            } else if history.name >= 0 {
                let most =
                    byLocation[registration.location] != nil
                    ? 1 : byLocation.count < Self.mostExactFindings ? .max : Self.mostCounted
                guard let finding = unmatched(registration, mostCounted: most) else { continue }
                byLocation[registration.location, default: []].append(finding)
            }
        }
        return findings
            + byLocation.map { location, same in
                var first = same[0]
                let isTwo = same.count == 2
                let place = location < 0 ? "" : " that \(isTwo ? "was" : "were") added at the same location"
                let others = isTwo ? "another one" : "\(same.count - 1) others"
                if same.count > 1 { first.problem += " The same is true of \(others)\(place)." }
                return first
            }
    }

    private func finding(
        _ registration: Recording.Entry, _ evidence: Int32, weight: Int, _ cause: String, remedy: String
    ) -> Finding {
        Finding(
            problem: "\(words.observer(registration.observer)) never received anything: \(cause)",
            evidence: [words.registered(registration.observer), evidence], remedy: remedy, weight: weight,
            name: registration.name)
    }

    // MARK: Matched, and not delivered

    private func matched(_ registration: Recording.Entry, _ matches: Accounts.Account) -> Finding? {
        let (pending, skipped) = (matches.counts[.pending], matches.counts[.skipped])
        if matches.counts[.matched] > pending { return nil }
        guard pending > 0 else {
            // An observer that is removed during a post is skipped too.
            let removed = words.removed(registration.observer)
            if removed >= 0, skipped == 1 || removed < matches.first { return nil }
            let all = skipped == 1 ? "its only notification" : "all \(skipped) notifications"
            return finding(
                registration, matches.first, weight: skipped, "its transform returned nil for \(all).",
                remedy:
                    "Compare what the transform expects in userInfo and object with what is posted. It returned nil "
                    + "each time, or the observer was removed during the post.")
        }
        // The thread's end is reported by another finding.
        if registration.target >= 0, index.threads[Int(registration.target)].end >= 0 { return nil }
        let posted = words.posted(index.entry(matches.first))
        let by =
            posted < 0
            ? ""
            : ", the first posted by \(words.thread(index.entry(posted).thread))\(words.location(of: posted, " at "))"
        let target = registration.target >= 0 ? registration.target : index.entry(matches.first).target
        var finding = finding(
            registration, matches.first, weight: pending,
            "\(counted(pending, "notification")) for it \(pending == 1 ? "is" : "are") still waiting "
                + (target < 0 ? "" : "for \(words.thread(target)) ") + "when the recording ends\(by).",
            remedy: target >= 0
                ? "Make \(words.numberedThread(target)) run its run loop in a common mode. If the "
                    + "thread was going to do that, make the program wait for it before it ends."
                    + (index.isMain(target) ? " \(Detector.asyncMain)" : "")
                : "If the observer is for a RunLoopThread, call its start(). If its handler is async, make the "
                    + "program wait for it before it ends.")
        finding.thread = target
        // An async handler may be running.
        if target < 0 || !words.hasExited(index.recording.process(of: registration)) { finding.severity = .note }
        return finding
    }

    // MARK: Posted, and not matched

    /// - Parameter mostCounted: the greatest number of posts to another center that is counted.
    private mutating func unmatched(_ registration: Recording.Entry, mostCounted: Int) -> Finding? {
        let (registered, removed) = (words.registered(registration.observer), words.removed(registration.observer))
        // Only posts made while it observed could match it.
        let end = removed < 0 ? .max : removed
        if let asked = index.recording.sender(of: registration) {
            // If its own sender posted, it observed another center, or the recording is truncated. Posts of senders
            // that other observers ask for are intended for those, and may be all of this run's posts.
            let own = postsBySender[registration.sender] ?? []
            let others = otherPosts.numbers(after: registered, before: end)
            guard own.numbers(after: registered, before: end).isEmpty, let other = others.first else { return nil }
            let posted = index.recording.sender(of: index.entry(other))
            return finding(
                registration, other, weight: others.count,
                "it observes only \(asked.words), but its name was posted \(words.times(others.count)) with "
                    + (posted.map { "another object, such as \($0.words)." } ?? "no object."),
                remedy: "Post with the same object, or observe with object: nil. "
                    + (registration.isFoundation
                        ? "NotificationCenter compares objects by identity: a value, such as a String, is never the "
                            + "same." : "Objects are compared by identity, hashable values by equality."))
        }
        // A registration is recorded before the observer is added, a removal after it is removed, and a post after it
        // is matched. So the records of their threads before and after decide whether the post was surely in between.
        let (adding, removing) = (registration.thread, removed < 0 ? -1 : index.entry(removed).thread)
        let added = after[Int(registered)] < 0 ? .max : after[Int(registered)]
        let left = removed < 0 ? .max - 1 : index.before[Int(removed)]
        let others = postsElsewhere(registration).numbers(after: registered, before: min(end, left + 1)).lazy.filter {
            [index] number in
            let thread = index.entry(number).thread
            return (thread == removing || number < left) && (thread == adding || index.before[Int(number)] > added)
        }
        guard let other = others.first else { return nil }
        let count = others.prefix(mostCounted).count
        return finding(
            registration, other, weight: count,
            "its name was posted \(count == mostCounted ? "at least " : "")\(words.times(count)), but to another "
                + "center.",
            remedy: "Observe at the center that the program posts to. A post to a ThreadedNotificationCenter does not "
                + "reach Foundation centers, and a ThreadedNotificationCenter captures posts of one Foundation "
                + "center only.")
    }

    /// None, unless every post recorded its number of matches: one of them may have matched this observer.
    private mutating func postsElsewhere(_ registration: Recording.Entry) -> [Int32] {
        let center = evidence.recording.foundationDetails(of: registration)?.center
        let key = registration.isFoundation ? center ?? "" : nil
        if let known = postsElsewhere[key] { return known }
        let areCounted = history.posts.allSatisfy { index.entry($0).count >= 0 }
        let posts = history.posts.filter { number in
            let post = index.entry(number)
            // A post that matched more observers than have records may have matched this one.
            if !areCounted || post.post >= 0 && post.count > index.posts[Int(post.post)].deliveryCount { return false }
            // An operation queue that was released runs no handlers.
            return
                !(registration.isFoundation && post.isFoundation
                && evidence.recording.foundationDetails(of: post)?.center == center)
        }
        postsElsewhere[key] = posts
        return posts
    }
}
