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
        // What a queue never posted is a finding of its own.
        let enqueued = Set(
            index.records(of: .enqueue).map { [Int32(recording.process(of: index.entry($0))), index.entry($0).name] })
        return named(300) { history in
            history.posts.isEmpty && !history.registrations.isEmpty && !sent.contains(history.name)
                && !enqueued.contains([history.process, history.name])
                && !history.registrations.allSatisfy(words.isCalledByFoundation)
                && history.registrations.map { index.entry($0).observer }.allSatisfy {
                    $0 < 0 || index.observers[Int($0)].earlier == 0
                }
        }.compactMap { history, name -> Finding? in
            let (registered, observer) = (history.registrations[0], index.entry(history.registrations[0]).observer)
            let near = posted.first { other in
                (name.isMisspelt(other.words)
                    || other.history.registrations.isEmpty && name.isWithoutModule(other.words))
                    && (other.history.process == history.process || other.history.posts.isEmpty)
            }?.history
            guard near?.registrations.isEmpty == true || recording.completeness[Int(history.process)].isComplete
            else { return nil }
            let problem =
                "\(words.name(history.name)) was never posted but is observed"
                + (observer < 0 ? "." : " by \(recording.describeObserver(observer)).")
            if let near {
                let posts = near.posts.isEmpty ? near.sent : near.posts
                // The program may use both names, if the other one has its own observer.
                return Finding(
                    severity: near.registrations.isEmpty ? .problem : .note,
                    problem: "\(problem) \(words.name(near.name)) was posted "
                        + "\(near.posts.isEmpty ? "to other processes " : "")\(words.times(posts.count)).",
                    evidence: [registered, posts[0]], remedy: Self.sameName, weight: posts.count, name: history.name)
            }
            return Finding(
                severity: .note, problem: problem, evidence: [registered, words.removed(observer)],
                remedy: (words.wasRemovedAtOnce(observer)
                    ? "Keep the token that addObserver returns: releasing it removes the observer. " : "")
                    + "If it should have been posted, compare the names, and the centers."
                    + (!recording.foundationDetails.isEmpty
                        ? "" : " Posts to Foundation centers are recorded by 'notify-demo record'."),
                name: history.name)
        }
    }

    /// Posts that were made before the program added the first observer of their name, posted names that differ by a
    /// letter from an observed one, and names that were sent to other processes and that none of them observes.
    var postedUnobserved: [Finding] {
        let ofAnyName = histories.filter { $0.name < 0 }
        let observed = named(300) { !$0.registrations.isEmpty }
        let names = Set(histories.filter { !$0.registrations.isEmpty }.map(\.name))
        let areAllRecorded =
            recording.processes.count > 1 && ofAnyName.isEmpty && recording.completeness.allSatisfy(\.isComplete)
        return histories.filter { $0.name >= 0 }.compactMap { history -> Finding? in
            func finding(
                _ severity: Finding.Severity, _ posts: [Int32], _ problem: String, _ other: Int32, _ remedy: String
            ) -> Finding {
                Finding(
                    severity: severity,
                    problem: "\(words.name(history.name)) was posted \(words.times(posts.count)) \(problem)",
                    evidence: [posts[0], other], remedy: remedy, weight: posts.count, name: history.name)
            }
            let (sent, first) = (sentInVain(history), history.registrations.first)
            var near: NameHistory? {
                let name = NameWords(recording.strings[Int(history.name)])
                return observed.first { other in
                    (!sent.isEmpty || other.history.process == history.process) && name.isMisspelt(other.words)
                }?.history
            }
            if !sent.isEmpty, areAllRecorded, !names.contains(history.name), near == nil {
                return finding(
                    .note, sent, "to other processes, and no recorded process observes it.", -1,
                    "If a process that was not recorded observes it, nothing is wrong. Otherwise compare the names, and "
                        + "the directories of the servers.")
            }
            guard let first else {
                // The finding of a name that was never posted tells both.
                guard !observed.isEmpty, let post = history.posts.first, index.entry(post).count <= 0, let near,
                    !near.posts.isEmpty
                else { return nil }
                return finding(
                    .note, history.posts, "and has no observer. \(words.name(near.name)) has one.",
                    near.registrations[0], Self.sameName)
            }
            let sender = index.entry(first).sender
            let end = min(first, ofAnyName.first { $0.process == history.process }?.registrations.first ?? .max)
            let missed = history.posts(after: -1, before: end).filter { post in
                // An observer of one sender missed only that sender's posts.
                index.entry(post).count <= 0 && (sender < 0 || index.entry(post).sender == sender)
            }
            return missed.isEmpty
                ? nil
                : finding(
                    .problem, missed, "before it had an observer.", first,
                    "Add the observer before you start the poster. Earlier posts are not kept: let the observer query "
                        + "the current state once after it was added.")
        }
    }

    /// The posts of a name to other processes, if no recorded process received any of them.
    private func sentInVain(_ history: NameHistory) -> [Int32] {
        history.sent.allSatisfy { index.posts[Int(index.entry($0).post)].receptions == 0 } ? history.sent : []
    }

    // MARK: Queues

    /// Notifications in a queue that were not posted: one finding for each thread, name and sender. The queue posts
    /// when the run loop of its thread runs. On Linux, a `NotificationQueue` that is used on a second thread may post
    /// nothing.
    var enqueuedNeverPosted: [Finding] {
        func key(_ number: Int32) -> [Int32] {
            let entry = index.entry(number)
            return [Int32(recording.process(of: entry)), entry.name, entry.sender]
        }
        // Coalesced notifications of Foundation share a post, and their removal from the queue is not recorded.
        let posts = index.posts.map(\.posted).filter {
            $0 >= 0 && index.entry($0).isFoundation && index.entry($0).stage == .post
        }
        let lastPost = Dictionary(posts.map { (key($0), $0) }) { $1 }
        /// The record of leaving the queue of the library; -1 if there is none.
        func outcome(_ enqueued: Int32) -> Int32 {
            index.entry(enqueued).post < 0 ? -1 : index.posts[Int(index.entry(enqueued).post)].queueOutcome
        }
        func thread(_ enqueued: Int32) -> Int32 {
            index.entry(enqueued).target >= 0 ? index.entry(enqueued).target : index.entry(enqueued).thread
        }
        return index.records(of: .enqueue).filter { number in
            index.entry(number).isFoundation
                ? index.entry(number).style != .now && number > lastPost[key(number)] ?? -1
                : index.entry(number).post >= 0
                    && (outcome(number) < 0 || index.entry(outcome(number)).stage == .targetGone)
        }.grouped { key($0) + [thread($0), index.entry($0).isFoundation ? 1 : 0] }.map { enqueued in
            let (first, thread, outcome) = (enqueued[0], thread(enqueued[0]), outcome(enqueued[0]))
            let (entry, since) = (index.entry(first), timeToEnd(first))
            let isOver = outcome >= 0 || !entry.isFoundation && words.hasExited(process(of: thread))
            return Finding(
                severity: isOver || since > stall ? .problem : .note,
                problem: "\(words.name(entry.name)) was enqueued \(words.times(enqueued.count)) in a "
                    + "\(entry.isFoundation ? "NotificationQueue" : "PostingQueue") on \(words.thread(thread)) and not "
                    + "posted afterwards, for \(ElapsedTime.text(since)).",
                evidence: [first, outcome, index.threads[Int(thread)].last],
                remedy: "The queue posts when the run loop of its thread runs, and a thread of a Dispatch queue runs "
                    + "none. Use a PostingQueue on main or on a RunLoopThread, and let the thread run until everything "
                    + "is posted. On Linux, a NotificationQueue that several threads use may post nothing.",
                weight: enqueued.count, name: entry.name)
        }
    }
}
