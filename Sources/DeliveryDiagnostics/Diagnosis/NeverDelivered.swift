internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds observers that never received anything: either their name was posted while they observed, or the program posts
/// a similar name instead (`MisspeltName`).
struct NeverDelivered {
    /// The posts of one name.
    struct Posts {
        /// Indices of the `post` and `capture` entries.
        var entries: [Int32] = []
        /// True if every post recorded how many observers it matched.
        var areCounted = true
    }

    /// The outcomes of the posts that matched an observer.
    private struct Matched {
        var delivered = 0
        var skipped = 0
        var pending = 0
        var others = 0
        var first: Int32 = -1
    }

    private let index: RecordingIndex
    private let words: RecordWords
    /// By name and process.
    private var posts: [UInt64: Posts] = [:]
    /// For each name and process, the senders that observers ask for.
    private var asked: [UInt64: Set<Int32>] = [:]
    /// For each entry: the previous and the next one of its thread.
    private var before: [Int32]
    private var after: [Int32]

    static func findings(_ index: RecordingIndex) -> [Finding] { NeverDelivered(index).findings() }

    private init(_ index: RecordingIndex) {
        self.index = index
        words = RecordWords(index)
        before = Array(repeating: -1, count: index.recording.entries.count)
        after = before
        var last = Array(repeating: Int32(-1), count: index.threads.count)
        for (number, entry) in index.recording.entries.enumerated() {
            let thread = Int(entry.thread)
            before[number] = last[thread]
            if last[thread] >= 0 { after[Int(last[thread])] = Int32(number) }
            last[thread] = Int32(number)
            switch entry.stage {
            case .post, .capture:
                guard entry.name >= 0 else { break }
                posts[Self.key(entry, index), default: Posts()].entries.append(Int32(number))
                if entry.count < 0 { posts[Self.key(entry, index)]?.areCounted = false }
            case .register:
                if entry.sender >= 0 { asked[Self.key(entry, index), default: []].insert(entry.sender) }
            default: break
            }
        }
    }

    static func key(_ entry: Recording.Entry, _ index: RecordingIndex) -> UInt64 {
        UInt64(index.recording.process(of: entry)) << 32 | UInt64(UInt32(bitPattern: entry.name))
    }

    private func findings() -> [Finding] {
        let matched = matched()
        var findings: [Finding] = []
        /// Findings by name and source location of the registration. Observers that are added at the same location
        /// share the finding of the first.
        var byLocation: [UInt64: (finding: Int, count: Int)] = [:]
        var unposted: [Int32] = []
        for number in index.observers.indices {
            let (observer, matched) = (Int32(number), matched[number])
            guard let registration = index.registration(of: observer), matched.delivered == 0,
                index.observers[number].earlier == 0
            else { continue }
            let key = Self.key(registration, index)
            if matched.first >= 0 {
                if let finding = finding(observer, registration, matched) { findings.append(finding) }
            } else if registration.name >= 0, let posts = posts[key] {
                guard let finding = unmatched(observer, registration, posts) else { continue }
                let location = key << 32 | UInt64(UInt32(bitPattern: registration.place))
                if registration.place >= 0, let first = byLocation[location] {
                    byLocation[location] = (first.finding, first.count + 1)
                } else {
                    byLocation[location] = (findings.count, 0)
                    findings.append(finding)
                }
            } else if registration.name >= 0 {
                unposted.append(observer)
            }
        }
        for (finding, count) in byLocation.values where count > 0 {
            findings[finding].problem += " The same is true of \(count == 1 ? "another one" : "\(count) others")"
            findings[finding].problem += " that \(count == 1 ? "was" : "were") added at the same location."
        }
        return findings + MisspeltName.findings(unposted, posts, words)
    }

    private func matched() -> [Matched] {
        var matched = Array(repeating: Matched(), count: index.observers.count)
        for delivery in index.deliveries where delivery.observer >= 0 {
            let observer = Int(delivery.observer)
            if delivery.outcome >= 0 {
                if index.entry(delivery.outcome).stage == .deliver {
                    matched[observer].delivered += 1
                } else {
                    matched[observer].others += 1
                }
            } else if delivery.skip >= 0 {
                matched[observer].skipped += 1
            } else {
                matched[observer].pending += 1
            }
            if matched[observer].first < 0 { matched[observer].first = delivery.first }
        }
        return matched
    }

    // MARK: Matched, and not delivered

    private func finding(_ observer: Int32, _ registration: Recording.Entry, _ matched: Matched) -> Finding? {
        if matched.others > 0 { return nil }
        if matched.pending > 0 {
            // The thread's end is reported by another finding.
            if registration.target >= 0, index.threads[Int(registration.target)].end >= 0 { return nil }
            let wasStarted = registration.target >= 0 || index.entry(matched.first).target >= 0
            return finding(
                observer, registration, matched.first, weight: matched.pending, thread: registration.target,
                "\(counted(matched.pending, "notification")) for it \(matched.pending == 1 ? "is" : "are") still "
                    + "waiting when the recording ends" + (wasStarted ? "." : ", and its thread was never started."),
                remedy: wasStarted
                    ? "Make \(registration.target < 0 ? "its thread" : words.thread(registration.target)) run its run "
                        + "loop in one of the observer's modes. The default of ObserverOptions(modes:) is .common. If "
                        + "the thread was going to do that, make the program wait for it before it ends."
                        + (Stall.isMain(registration.target, index) ? " \(Stall.asyncMain)" : "")
                    : "Call start() on the RunLoopThread.")
        }
        // An observer that is removed during a post is skipped too.
        let removed = index.observers[Int(observer)].removed
        if removed >= 0, matched.skipped == 1 || removed < matched.first { return nil }
        return finding(
            observer, registration, matched.first, weight: matched.skipped,
            "its transform returned nil for "
                + (matched.skipped == 1 ? "its only notification." : "all \(matched.skipped) notifications."),
            remedy:
                "Compare what the transform expects in userInfo and object with what is posted. It returned nil each "
                + "time, or the observer was removed during the post.")
    }

    private func finding(
        _ observer: Int32, _ registration: Recording.Entry, _ evidence: Int32, weight: Int, thread: Int32 = -1,
        _ cause: String, remedy: String
    ) -> Finding {
        Finding(
            kind: .neverDelivered, severity: .problem,
            problem: "\(words.observer(observer)) never received anything: \(cause)",
            evidence: [words.registered(observer), evidence], remedy: remedy, weight: weight, name: registration.name,
            thread: thread)
    }

    // MARK: Posted, and not matched

    private func unmatched(_ observer: Int32, _ registration: Recording.Entry, _ posts: Posts) -> Finding? {
        let registered = words.registered(observer)
        let removed = index.observers[Int(observer)].removed
        // Only posts made while it observed could match it.
        let all = posts.entries.between(registered, removed < 0 ? .max : removed)
        if let asked = index.recording.sender(of: registration) {
            // If its own sender posted, it observed another center, or the recording is truncated. Posts of senders
            // that other observers ask for are intended for those, and may be all of this run's posts.
            let known = self.asked[Self.key(registration, index)] ?? []
            if all.contains(where: { index.entry($0).sender == registration.sender }) { return nil }
            let others = all.filter { !known.contains(index.entry($0).sender) }
            guard let other = others.first else { return nil }
            let posted = index.recording.sender(of: index.entry(other))
            return finding(
                observer, registration, other, weight: others.count,
                "it observes only \(asked.words), but its name was posted \(words.times(others.count)) with "
                    + (posted.map { "another object, such as \($0.words)." } ?? "no object."),
                remedy:
                    "Post with the same object, or observe with object: nil. Objects are compared by identity, "
                    + "hashable values by equality.")
        }
        // Unless every post recorded its number of matches, one of them may have matched this observer.
        guard posts.areCounted else { return nil }
        // A registration is recorded before the observer is added, a removal after it is removed, and a post after it
        // is matched. A post that matched more observers than have records may have matched this one.
        let others = all.filter { isSurelyDuring($0, registered, removed) && !hasUnrecordedMatch(index.entry($0)) }
        guard let other = others.first else { return nil }
        return finding(
            observer, registration, other, weight: others.count,
            "its name was posted \(words.times(others.count)), but to another center.",
            remedy:
                "Observe at the center that the program posts to. A post to a ThreadedNotificationCenter does not "
                + "reach Foundation centers, and a ThreadedNotificationCenter captures posts of one Foundation "
                + "center only.")
    }

    private func hasUnrecordedMatch(_ post: Recording.Entry) -> Bool {
        post.post >= 0 && post.count > index.posts[Int(post.post)].deliveryCount
    }

    /// True if the observer certainly existed during the whole time in which the post was matched. Decided by the
    /// records of its threads before and after.
    private func isSurelyDuring(_ post: Int32, _ registered: Int32, _ removed: Int32) -> Bool {
        let thread = index.entry(post).thread
        if thread != index.entry(registered).thread {
            let added = after[Int(registered)]
            guard added >= 0, before[Int(post)] > added else { return false }
        }
        guard removed >= 0, thread != index.entry(removed).thread else { return true }
        return post < before[Int(removed)]
    }
}

extension [Int32] {
    /// The elements of an ascending array that are greater than one number and less than another.
    fileprivate func between(_ one: Int32, _ other: Int32) -> ArraySlice<Int32> {
        func first(after number: Int32) -> Int {
            var (low, high) = (0, count)
            while low < high {
                let middle = (low + high) / 2
                if self[middle] <= number { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let start = first(after: one)
        return self[start..<Swift.max(start, first(after: other))]
    }
}
