internal import DeliveryRecording

/// Observers that never received anything, although their name was posted while they observed.
extension Evidence {
    var neverDelivered: [Finding] { alwaysSkipped + neverMatched }

    private func finding(_ observer: Int32, _ record: Int32, _ cause: String, _ remedy: String) -> Finding {
        Finding(
            problem: "\(words.observer(observer)) never received anything: \(cause)",
            evidence: [words.registered(observer), record], remedy: remedy)
    }

    /// Observers whose transform returned nil for everything.
    private var alwaysSkipped: [Finding] {
        index.observers.indices.map(Int32.init).compactMap { observer in
            let (counts, first) = (matches[Int(observer)].counts, matches[Int(observer)].first)
            let removed = words.removed(observer)
            guard words.registered(observer) >= 0, counts[.skipped] > 0, counts[.matched] == 0,
                hasReceivedNothing(observer),
                // An observer that is removed during a post is skipped too.
                removed < 0 || counts[.skipped] > 1 && removed > first
            else { return nil }
            return finding(
                observer, first, "its transform returned nil.",
                "Compare what the transform expects in userInfo and object with what is posted.")
        }
    }

    /// Observers of a name that was posted with another object, or to another center. Those that were added at one
    /// location share a finding.
    ///
    /// Cost: a pass over the posts of a name for each of at most 100 observers of a source location.
    private var neverMatched: [Finding] {
        /// For each entry: the entry of the same thread after it.
        var after = [Int32](repeating: .max, count: index.before.count)
        for (number, before) in index.before.enumerated() where before >= 0 { after[Int(before)] = Int32(number) }
        return histories.filter { $0.name >= 0 && !$0.posts.isEmpty }.flatMap { history in
            let senders = Set(history.registrations.map { index.entry($0).sender })
            return history.registrations.filter { number in
                let observer = index.entry(number).observer
                return words.registered(observer) == number && hasReceivedNothing(observer)
                    && matches[Int(observer)].first < 0
            }.grouped { [index.entry($0).location, index.entry($0).sender] }.compactMap { added in
                added.prefix(100).lazy.compactMap { missed($0, history, senders, next: after[Int($0)]) }.first
            }
        }
    }

    /// The finding of an observer of one object whose name was posted only with objects that no observer asks for, or
    /// of one of every object whose name was posted to another center only, while it certainly observed. A registration
    /// is recorded before the observer is added, a removal after it is removed, and a post after it is matched. So the
    /// records of their threads before and after decide whether the post was in between.
    private func missed(
        _ registered: Int32, _ history: NameHistory, _ senders: Set<Int32>, next: Int32
    ) -> Finding? {
        let (registration, removed) = (index.entry(registered), words.removed(index.entry(registered).observer))
        let posts = history.posts(after: registered, before: removed < 0 ? .max : removed)
        if let asked = recording.sender(of: registration) {
            // If its own object posted, it observes another center, or records are missing.
            guard !posts.contains(where: { index.entry($0).sender == registration.sender }),
                let post = posts.first(where: {
                    index.entry($0).sender < 0 || !senders.contains(index.entry($0).sender)
                })
            else { return nil }
            let posted = recording.sender(of: index.entry(post))?.words ?? "no object"
            return finding(
                registration.observer, post, "it observes only \(asked.words), but its name was posted with \(posted).",
                "Post with the same object, or observe with object: nil. Objects are compared by identity; a "
                    + "ThreadedNotificationCenter compares hashable values by equality.")
        }
        let post = posts.first { number in
            let post = index.entry(number)
            let mayBeRemoved =
                removed >= 0 && post.thread != index.entry(removed).thread && number >= index.before[Int(removed)]
            return (post.thread == registration.thread || index.before[Int(number)] > next) && !mayBeRemoved
                && (post.post < 0 || post.count <= index.posts[Int(post.post)].deliveryCount)
                // An operation queue that was released runs no handlers.
                && (!registration.isFoundation || center(of: post) != center(of: registration))
        }
        // A post that matched more observers than have records may have matched this one, too.
        guard let post, history.posts.allSatisfy({ index.entry($0).count >= 0 }) else { return nil }
        return finding(
            registration.observer, post, "its name was posted, but to another center.",
            "Observe at the center that the program posts to. A ThreadedNotificationCenter captures the posts of one "
                + "Foundation center, and its own posts do not reach Foundation centers.")
    }

    private func center(of entry: Recording.Entry) -> String? {
        entry.isFoundation ? recording.foundationDetails(of: entry)?.center ?? "" : nil
    }
}
