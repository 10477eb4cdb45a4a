internal import DeliveryRecording

/// Names that are observed and never posted, posts without an observer, and what a queue never posted.
extension Evidence {
    private static let sameName =
        "If both should be the same name, declare it once, as a constant in an extension of Notification.Name, and "
        + "post and observe with that."

    private typealias NamedHistory = (history: NameHistory, words: NameWords)

    /// The first findings will reveal the rest, so only so many names are compared.
    private func named(_ most: Int, where isIncluded: (NameHistory) -> Bool) -> [NamedHistory] {
        histories.filter { $0.name >= 0 && isIncluded($0) }.prefix(most).map {
            ($0, NameWords(recording.strings[Int($0.name)]))
        }
    }

    /// Names that are observed and never posted. It is a problem if a misspelt name is posted that nothing observes;
    /// otherwise it is a note, if the recording is complete.
    ///
    /// Cost: for each of the first 300 of these names, a pass over at most 1,000 posted names.
    var neverPosted: [Finding] {
        let posted = named(1000) { !$0.posts.isEmpty || !sentInVain($0).isEmpty }
        let sent = Set(histories.filter { !$0.sent.isEmpty }.map(\.name))
        let unposted = named(300) { history in
            history.posts.isEmpty && !history.registrations.isEmpty && !sent.contains(history.name)
                && !history.registrations.allSatisfy(words.isCalledByFoundation)
                && history.registrations.map { index.entry($0).observer }.allSatisfy {
                    $0 < 0 || index.observers[Int($0)].earlier == 0
                }
        }
        return unposted.compactMap { history, name -> Finding? in
            let (registered, observer) = (history.registrations[0], index.entry(history.registrations[0]).observer)
            let removed = words.removed(observer)
            let ofProcess = posted.filter { $0.history.process == history.process || $0.history.posts.isEmpty }
            let near = ofProcess.first { other in
                let posts = other.history.posts.isEmpty ? other.history.sent : other.history.posts
                let isUnobserved = other.history.registrations.isEmpty
                return (name.isMisspelt(other.words) || isUnobserved && name.isWithoutModule(other.words))
                    && posts[posts.count - 1] > registered && (removed < 0 || posts[0] < removed)
            }?.history
            guard near?.registrations.isEmpty == true || recording.completeness[Int(history.process)].isComplete
            else { return nil }
            let by = observer < 0 ? "" : " by \(recording.describeObserver(observer))"
            var finding = Finding(
                severity: .note, problem: "\(words.name(history.name)) was never posted but is observed\(by).",
                evidence: [registered, removed],
                remedy: "If it should have been posted, compare the names, and the centers."
                    + (words.recordsFoundation
                        ? ""
                        : " A post to a Foundation center, such as NotificationCenter.default, is recorded only if the "
                            + "library observes its name there."),
                name: history.name)
            if let near {
                // The program may use both names, if the other one has its own observer.
                finding.severity = near.registrations.isEmpty ? .problem : .note
                let (posts, place) =
                    near.posts.isEmpty ? (sentInVain(near), " to other processes") : (near.posts, "")
                finding.problem += " \(words.name(near.name)) was posted\(place) \(words.times(posts.count))."
                finding.evidence = [registered, posts[0]]
                (finding.remedy, finding.weight) = (Self.sameName, posts.count)
                return finding
            }
            if removed >= 0 {
                let lifetime = ElapsedTime.text(index.time(from: registered, to: removed))
                finding.problem += " The observer was removed \(lifetime) after it was added."
                if words.wasRemovedAtOnce(observer), index.entry(removed).reason != .cancelled {
                    finding.remedy =
                        "Keep the token that addObserver returns: releasing it removes the observer. \(finding.remedy)"
                }
            }
            let others = ofProcess.map(\.history).filter { $0.registrations.isEmpty && !$0.posts.isEmpty }.map {
                "\(words.name($0.name)) (\(words.times($0.posts.count)))"
            }
            if !others.isEmpty { finding.details = ["posted without an observer: \(words.list(others))"] }
            return finding
        }
    }

    /// Posts that were made before the program added the first observer of their name, and posted names that differ by
    /// a letter from an observed one.
    var postedUnobserved: [Finding] {
        /// By process: the first observer of any name.
        var ofAnyName: [Int32: Int32] = [:]
        for history in histories where history.name < 0 { ofAnyName[history.process] = history.registrations.first }
        let observed = named(300) { !$0.registrations.isEmpty && !$0.posts.isEmpty }
        return histories.filter { $0.name >= 0 && !$0.posts.isEmpty }.compactMap { history -> Finding? in
            func finding(
                _ severity: Finding.Severity, _ posts: Int, _ problem: String, _ evidence: [Int32], _ remedy: String
            ) -> Finding {
                Finding(
                    severity: severity,
                    problem: "\(words.name(history.name)) was posted \(words.times(posts)) \(problem)",
                    evidence: evidence, remedy: remedy, weight: posts, name: history.name)
            }
            guard let registered = history.registrations.first else {
                guard index.entry(history.posts[0]).count <= 0, !observed.isEmpty,
                    case let name = NameWords(recording.strings[Int(history.name)]),
                    let near = observed.first(where: {
                        $0.history.process == history.process && name.isMisspelt($0.words)
                    })?.history
                else { return nil }
                return finding(
                    .note, history.posts.count, "and has no observer. \(words.name(near.name)) has one.",
                    [history.posts[0], near.registrations[0]], Self.sameName)
            }
            let sender = index.entry(registered).sender
            let end = min(registered, ofAnyName[history.process] ?? .max)
            let missed = history.posts(after: -1, before: end).filter { post in
                // An observer of one sender missed only that sender's posts.
                index.entry(post).count <= 0 && (sender < 0 || index.entry(post).sender == sender)
            }
            return missed.first.map { first in
                finding(
                    .problem, missed.count, "before it had an observer.", [first, registered],
                    "Add the observer before you start the poster. Earlier posts are not kept: let the observer query "
                        + "the current state once after it was added.")
            }
        }
    }

    /// The posts of a name to other processes, if no recorded process received any of them.
    private func sentInVain(_ history: NameHistory) -> [Int32] {
        history.sent.allSatisfy { index.posts[Int(index.entry($0).post)].receptions == 0 } ? history.sent : []
    }

    /// Names that are posted to other processes and that no recorded process observes, if several were recorded.
    var sentUnobserved: [Finding] {
        let isComplete = recording.completeness.allSatisfy(\.isComplete)
        guard isComplete, recording.processes.count > 1, !histories.contains(where: { $0.name < 0 }) else { return [] }
        let observed = histories.filter { !$0.registrations.isEmpty }
        let names = Set(observed.map(\.name))
        let unposted = named(300) { $0.posts.isEmpty && !$0.registrations.isEmpty }
        return named(300) { !sentInVain($0).isEmpty && !names.contains($0.name) }.compactMap { history, name in
            // The finding of the observed name tells both.
            if unposted.contains(where: { $0.words.isMisspelt(name) }) { return nil }
            return Finding(
                severity: .note,
                problem:
                    "\(words.name(history.name)) was posted to other processes \(words.times(history.sent.count)), and no "
                    + "recorded process observes it.",
                evidence: [history.sent[0]],
                remedy:
                    "If a process that was not recorded observes it, nothing is wrong. Otherwise compare the names, and the "
                    + "directories of the servers.",
                weight: history.sent.count, name: history.name)
        }
    }

    // MARK: Queues

    /// Notifications in a `NotificationQueue` of Foundation that were not posted afterwards, one finding for each name and
    /// sender. On Linux, such a queue may post nothing if it is used on a second thread. The removal of a notification
    /// from it is not recorded.
    var enqueuedInFoundation: [Finding] {
        func key(_ number: Int32) -> [Int32] {
            let entry = index.entry(number)
            return [Int32(recording.process(of: entry)), entry.name, entry.sender]
        }
        // Coalesced notifications share a post. A queue may post on another thread than the one that enqueues.
        let posts = index.posts.map(\.posted).filter {
            $0 >= 0 && index.entry($0).isFoundation && index.entry($0).stage == .post
        }
        let lastPost = Dictionary(posts.map { (key($0), $0) }) { $1 }
        return index.records(of: .enqueue).filter { number in
            let entry = index.entry(number)
            return entry.isFoundation && entry.style != .now && number > lastPost[key(number)] ?? -1
        }.grouped(by: key).map { enqueued in
            let (entry, since) = (index.entry(enqueued[0]), timeToEnd(enqueued[0]))
            return Finding(
                severity: since > stall ? .problem : .note,
                problem:
                    "\(words.name(entry.name)) was enqueued \(words.times(enqueued.count)) in a NotificationQueue on "
                    + "\(words.thread(entry.thread)) and not posted afterwards, for \(ElapsedTime.text(since)).",
                evidence: [enqueued[0], index.threads[Int(entry.thread)].last],
                remedy: index.isMain(entry.thread)
                    ? "The queue posts when the main run loop runs: end main with RunLoop.main.run(), and let the "
                        + "program continue until everything is posted."
                    : "The queue posts when the run loop of its thread runs, and on Linux a queue that several threads "
                        + "use may post nothing. Use a PostingQueue, on a thread that runs its run loop, such as a "
                        + "RunLoopThread, or post without a queue.", weight: enqueued.count, name: entry.name)
        }
    }

    /// Notifications in a `PostingQueue` that were never posted, one finding for each name and thread. The queue posts
    /// when the run loop of its thread runs.
    var enqueuedNeverPosted: [Finding] {
        index.posts.filter { post in
            post.enqueued >= 0 && !index.entry(post.enqueued).isFoundation
                && (post.queueOutcome < 0 || index.entry(post.queueOutcome).stage == .targetGone)
        }.grouped { post in
            let entry = index.entry(post.enqueued)
            return [entry.target >= 0 ? entry.target : entry.thread, entry.name]
        }.map { posts in
            let (first, last, outcome) = (posts[0].enqueued, posts[posts.count - 1].enqueued, posts[0].queueOutcome)
            let entry = index.entry(first)
            let number = entry.target >= 0 ? entry.target : entry.thread
            let thread = index.threads[Int(number)]
            let since = outcome >= 0 ? index.time(from: first, to: outcome) : timeToEnd(first)
            let reason =
                outcome >= 0 || thread.end > first
                ? "the thread ended before that"
                : recording.threads[Int(number)].isInPool
                    ? "the thread belongs to a Dispatch pool, and runs no run loop"
                    : thread.last <= last
                        ? "the thread recorded nothing after that" : "the queue had no turn on that thread"
            return Finding(
                severity: outcome >= 0 || since > stall || words.hasExited(process(of: number)) ? .problem : .note,
                problem: "\(words.name(entry.name)) was enqueued \(words.times(posts.count)) in a PostingQueue on "
                    + "\(words.thread(number)) and never posted, for \(ElapsedTime.text(since)): \(reason).",
                evidence: [first, outcome, thread.last],
                remedy:
                    "The queue posts when the run loop of its thread runs, and a thread of a Dispatch queue runs none. "
                    + "Enqueue on a thread that runs its run loop, such as main or a RunLoopThread, and let it run until "
                    + "everything is posted.", weight: posts.count, name: entry.name)
        }
    }
}
