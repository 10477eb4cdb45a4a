internal import DeliveryRecording

/// Observers that never received anything, although their name was posted while they observed.
extension Evidence {
    var neverDelivered: [Finding] { alwaysSkipped + neverMatched }

    private func finding(
        _ registration: Recording.Entry, _ record: Int32, weight: Int = 1, _ cause: String, _ remedy: String
    ) -> Finding {
        Finding(
            problem: "\(words.observer(registration.observer)) never received anything: \(cause)",
            evidence: [words.registered(registration.observer), record], remedy: remedy, weight: weight,
            name: registration.name)
    }

    /// Observers whose transform returned nil for everything.
    private var alwaysSkipped: [Finding] {
        index.observers.indices.map(Int32.init).compactMap { observer in
            let (counts, first, removed) = (counts(of: observer), matches[Int(observer)].first, words.removed(observer))
            guard let registration = index.registration(of: observer), counts[.skipped] > 0, counts[.matched] == 0,
                hasReceivedNothing(observer),
                // An observer that is removed during a post is skipped too.
                removed < 0 || counts[.skipped] > 1 && removed > first
            else { return nil }
            return finding(
                registration, first, weight: counts[.skipped], "its transform returned nil.",
                "Compare what the transform expects in userInfo and object with what is posted.")
        }
    }

    /// Observers of a name that was posted with another object, or to another center. Those that were added at one
    /// location share a finding.
    ///
    /// Cost: a pass over the posts of a name for each of at most 100 observers of a source location.
    var neverMatched: [Finding] {
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
                added.prefix(100).lazy.compactMap { registered in
                    index.entry(registered).sender >= 0
                        ? missed(fromOthers: registered, history, senders)
                        : missed(elsewhere: registered, history, after: after[Int(registered)])
                }.first
            }
        }
    }

    /// The finding of an observer of one object whose name was posted only with objects that no observer asks for. If
    /// its own object posted, it observes another center, or records are missing.
    private func missed(fromOthers registered: Int32, _ history: NameHistory, _ senders: Set<Int32>) -> Finding? {
        let registration = index.entry(registered)
        let posts = history.posts(after: registered, before: end(ofObserver: registration.observer))
        guard let asked = recording.sender(of: registration),
            !posts.contains(where: { index.entry($0).sender == registration.sender }),
            let post = posts.first(where: { index.entry($0).sender < 0 || !senders.contains(index.entry($0).sender) })
        else { return nil }
        let posted = recording.sender(of: index.entry(post))?.words ?? "no object"
        return finding(
            registration, post, "it observes only \(asked.words), but its name was posted with \(posted).",
            "Post with the same object, or observe with object: nil. Objects are compared by identity; a "
                + "ThreadedNotificationCenter compares hashable values by equality.")
    }

    /// The finding of an observer whose name was posted to another center only, while it certainly observed.
    ///
    /// A registration is recorded before the observer is added, a removal after it is removed, and a post after it is
    /// matched. So the records of their threads before and after decide whether the post was in between.
    ///
    /// - Parameter next: the record of its thread after the registration.
    private func missed(elsewhere registered: Int32, _ history: NameHistory, after next: Int32) -> Finding? {
        let (registration, removed) = (index.entry(registered), words.removed(index.entry(registered).observer))
        let (removing, left) = removed < 0 ? (-1, .max) : (index.entry(removed).thread, index.before[Int(removed)])
        // A post that matched more observers than have records may have matched this one, too.
        guard history.posts.allSatisfy({ index.entry($0).count >= 0 }),
            let post = history.posts(after: registered, before: end(ofObserver: registration.observer)).first(where: {
                let post = index.entry($0)
                return (post.thread == registration.thread || index.before[Int($0)] > next)
                    && (post.thread == removing || $0 < left)
                    && (post.post < 0 || post.count <= index.posts[Int(post.post)].deliveryCount)
                    // An operation queue that was released runs no handlers.
                    && (!registration.isFoundation || center(of: post) != center(of: registration))
            })
        else { return nil }
        return finding(
            registration, post, "its name was posted, but to another center.",
            "Observe at the center that the program posts to. A post to a ThreadedNotificationCenter does not reach "
                + "Foundation centers, and a ThreadedNotificationCenter captures posts of one Foundation center only.")
    }

    private func end(ofObserver observer: Int32) -> Int32 {
        words.removed(observer) < 0 ? .max : words.removed(observer)
    }

    private func center(of entry: Recording.Entry) -> String? {
        entry.isFoundation ? recording.foundationDetails(of: entry)?.center ?? "" : nil
    }
}
