internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds observers that never received anything: either their name was posted while they observed, or the program posts
/// a similar name instead.
enum NeverDelivered {
    /// The posts of one name.
    private struct Posts {
        /// Indices of the `post` entries.
        var entries: [Int32] = []
        /// The same, by sender.
        var ofSender: [Int32: [Int32]] = [:]
        /// The number of posts that recorded how many observers they matched.
        var counted = 0

        var count: Int { entries.count }
        var first: Int32 { entries.first ?? -1 }
        var last: Int32 { entries.last ?? -1 }
    }

    /// The outcomes of the posts that matched an observer.
    private struct Matched {
        var delivered = 0
        var skipped = 0
        var pending = 0
        var others = 0
        var first: Int32 = -1
    }

    static func findings(_ index: DeliveryIndex) -> [Finding] {
        let matched = matched(index)
        let posts = posts(index)
        let asked = asked(index)
        let order = ThreadOrder(index.recording)
        var findings: [Finding] = []
        /// Findings by name and source location of the registration. Observers that are added at the same location
        /// share the finding of the first.
        var byLocation: [UInt64: (finding: Int, count: Int)] = [:]
        var unposted: [Int32] = []
        for observer in index.registered.indices where index.registered[observer] >= 0 {
            let observer = Int32(observer)
            let matched = matched[Int(observer)]
            guard matched.delivered == 0, index.earlier[Int(observer)] == 0 else { continue }
            let registration = index.entry(index.registered[Int(observer)])
            if matched.skipped + matched.pending + matched.others > 0 {
                if let finding = finding(observer, matched, index) { findings.append(finding) }
            } else if registration.name >= 0 {
                if let posts = posts[key(registration, index)] {
                    guard let finding = unmatched(observer, posts, asked, order, index) else { continue }
                    let location = key(registration, index) << 32 | UInt64(UInt32(bitPattern: registration.place))
                    if registration.place >= 0, let first = byLocation[location] {
                        byLocation[location] = (first.finding, first.count + 1)
                    } else {
                        byLocation[location] = (findings.count, 0)
                        findings.append(finding)
                    }
                } else {
                    unposted.append(observer)
                }
            }
        }
        for (finding, count) in byLocation.values where count > 0 {
            findings[finding].problem += " The same is true of \(count == 1 ? "another one" : "\(count) others")"
            findings[finding].problem += " that \(count == 1 ? "was" : "were") added at the same location."
        }
        return findings + misspelt(unposted, posts, index)
    }

    /// For each name, the senders that observers ask for.
    private static func asked(_ index: DeliveryIndex) -> [UInt64: Set<Int32>] {
        var asked: [UInt64: Set<Int32>] = [:]
        for entry in index.recording.entries where entry.stage == .register && entry.sender >= 0 {
            asked[key(entry, index), default: []].insert(entry.sender)
        }
        return asked
    }

    private static func key(_ entry: Recording.Entry, _ index: DeliveryIndex) -> UInt64 {
        UInt64(index.recording.process(of: entry)) << 32 | UInt64(UInt32(bitPattern: entry.name))
    }

    private static func matched(_ index: DeliveryIndex) -> [Matched] {
        var matched = Array(repeating: Matched(), count: index.recording.observers.count)
        for pair in index.pairs where pair.observer >= 0 {
            let observer = Int(pair.observer)
            if pair.outcome >= 0 {
                if index.entry(pair.outcome).stage == .deliver {
                    matched[observer].delivered += 1
                } else {
                    matched[observer].others += 1
                }
            } else if pair.skip >= 0 {
                matched[observer].skipped += 1
            } else {
                matched[observer].pending += 1
            }
            if matched[observer].first < 0 {
                matched[observer].first = pair.append >= 0 ? pair.append : pair.skip >= 0 ? pair.skip : pair.outcome
            }
        }
        return matched
    }

    private static func posts(_ index: DeliveryIndex) -> [UInt64: Posts] {
        var posts: [UInt64: Posts] = [:]
        for (entryIndex, entry) in index.recording.entries.enumerated()
        where (entry.stage == .post || entry.stage == .capture) && entry.name >= 0 {
            let key = key(entry, index)
            posts[key, default: Posts()].entries.append(Int32(entryIndex))
            if entry.count >= 0 { posts[key, default: Posts()].counted += 1 }
            if entry.sender >= 0 {
                posts[key, default: Posts()].ofSender[entry.sender, default: []].append(Int32(entryIndex))
            }
        }
        return posts
    }

    // MARK: Matched, and not delivered

    private static func finding(_ observer: Int32, _ matched: Matched, _ index: DeliveryIndex) -> Finding? {
        let words = DiagnosisWords(index)
        let registered = index.registered[Int(observer)]
        let evidence = [registered, matched.first]
        if matched.others > 0 { return nil }
        if matched.pending > 0 {
            let target = index.entry(registered).target
            let thread = target < 0 ? "its thread" : words.thread(target)
            // The thread's end is reported by another finding.
            if target >= 0, index.threadEnd[Int(target)] >= 0 { return nil }
            return Finding(
                kind: .neverDelivered, severity: .problem,
                problem: "\(words.observer(observer)) never received anything: "
                    + "\(words.count(matched.pending, "notification")) for it \(matched.pending == 1 ? "is" : "are") "
                    + "still waiting when the recording ends.",
                evidence: evidence,
                remedy: "Make \(thread) run its run loop in one of the observer's modes. The default of "
                    + "ObserverOptions(modes:) is .common. If the thread was going to do that, make the program wait "
                    + "for it before it ends.",
                weight: matched.pending, thread: target)
        }
        // An observer that is removed during a post is skipped too.
        let removed = index.removed[Int(observer)]
        if removed >= 0, matched.skipped == 1 || removed < matched.first { return nil }
        return Finding(
            kind: .neverDelivered, severity: .problem,
            problem: "\(words.observer(observer)) never received anything: its transform returned nil for "
                + (matched.skipped == 1 ? "its only notification." : "all \(matched.skipped) notifications."),
            evidence: evidence,
            remedy:
                "Compare what the transform expects in userInfo and object with what is posted. It returned nil each "
                + "time, or the observer was removed during the post.",
            weight: matched.skipped)
    }

    // MARK: Posted, and not matched

    private static func unmatched(
        _ observer: Int32, _ posts: Posts, _ asked: [UInt64: Set<Int32>], _ order: ThreadOrder, _ index: DeliveryIndex
    ) -> Finding? {
        let words = DiagnosisWords(index)
        let registered = index.registered[Int(observer)]
        let removed = index.removed[Int(observer)]
        // Only posts made while it observed could match it.
        let end = removed < 0 ? Int32.max : removed
        func meanwhile(_ entries: [Int32]) -> ArraySlice<Int32> {
            entries[
                entries.firstIndex(
                    after: registered)..<max(entries.firstIndex(after: registered), entries.firstIndex(after: end))]
        }
        let all = meanwhile(posts.entries)
        let registration = index.entry(registered)
        // If its own sender posted, it observed another center, or the recording is truncated.
        if registration.sender >= 0, !meanwhile(posts.ofSender[registration.sender] ?? []).isEmpty { return nil }
        if registration.sender >= 0 {
            // Posts of senders that other observers ask for are intended for those, and may be all of this run's posts.
            let known = asked[key(registration, index)] ?? []
            let others = all.filter { !known.contains(index.entry($0).sender) }
            let count = others.count
            guard let other = others.first, let asked = index.recording.sender(of: registration) else { return nil }
            let posted = index.recording.sender(of: index.entry(other))
            return Finding(
                kind: .neverDelivered, severity: .problem,
                problem:
                    "\(words.observer(observer)) never received anything: it observes only \(asked.words), but its "
                    + "name was posted \(words.times(count)) with "
                    + (posted.map { "another object, such as \($0.words)." } ?? "no object."),
                evidence: [registered, other],
                remedy:
                    "Post with the same object, or observe with object: nil. Objects are compared by identity, "
                    + "hashable values by equality.",
                weight: count)
        }
        // Unless every post recorded its number of matches, one of them may have matched this observer.
        guard posts.counted == posts.count else { return nil }
        // A registration is recorded before the observer is added, a removal after it is removed, and a post after it
        // is matched. A post that matched more observers than have records may have matched this one.
        let others = all.filter { order.isSurelyDuring($0, registered, removed) && !index.hasUnrecordedMatch($0) }
        guard let other = others.first else { return nil }
        let count = others.count
        return Finding(
            kind: .neverDelivered, severity: .problem,
            problem: "\(words.observer(observer)) never received anything, although its name was posted "
                + "\(words.times(count)): it was posted to another center.",
            evidence: [registered, other],
            remedy:
                "Observe at the center that the program posts to. A post to a ThreadedNotificationCenter does not "
                + "reach Foundation centers, and a ThreadedNotificationCenter captures posts of one Foundation "
                + "center only.",
            weight: count)
    }

    // MARK: Another name

    private static func misspelt(_ observers: [Int32], _ posts: [UInt64: Posts], _ index: DeliveryIndex) -> [Finding] {
        guard !observers.isEmpty, !posts.isEmpty else { return [] }
        let recording = index.recording
        var observed: Set<UInt64> = []
        for entry in recording.entries where entry.stage == .register { observed.insert(key(entry, index)) }
        let words = DiagnosisWords(index)
        var findings: [Finding] = []
        var asked: Set<UInt64> = []
        // Comparing names is slow, so it is limited. The first findings will reveal the rest.
        let candidates = posts.sorted { $0.value.first < $1.value.first }.prefix(1000)
        for observer in observers.prefix(300) {
            let registered = index.registered[Int(observer)]
            let registration = index.entry(registered)
            let own = key(registration, index)
            guard asked.insert(own).inserted else { continue }
            let word = recording.strings[Int(registration.name)]
            let near = candidates.filter { candidate in
                candidate.key >> 32 == own >> 32
                    && isNear(word, name(candidate.key, recording), isObserved: observed.contains(candidate.key))
            }.min { one, other in
                Suggestion.distance(word, name(one.key, recording))
                    < Suggestion.distance(word, name(other.key, recording))
            }
            guard let near else { continue }
            let removed = index.removed[Int(observer)]
            guard near.value.last > registered, removed < 0 || near.value.first < removed else { continue }
            findings.append(
                Finding(
                    kind: .nameNeverPosted, severity: .problem,
                    problem: "\(words.name(registration.name)) was never posted but is observed by "
                        + "\(recording.describeObserver(observer)). \(Excerpt.of(name(near.key, recording))) was "
                        + "posted \(words.times(near.value.count)).",
                    evidence: [registered, near.value.first],
                    remedy: "If both should be the same name, declare it once: "
                        + "extension Notification.Name { static let … = "
                        + "Self(\"\(Excerpt.of(name(near.key, recording)))\") }",
                    weight: near.value.count))
        }
        return findings
    }

    private static func name(_ key: UInt64, _ recording: Recording) -> String {
        recording.strings[Int(key & 0xFFFF_FFFF)]
    }

    /// A name that is observed itself is probably intended, unless it differs by a single letter.
    private static func isNear(_ word: String, _ candidate: String, isObserved: Bool) -> Bool {
        guard abs(word.utf8.count - candidate.utf8.count) <= max(2, candidate.utf8.count / 3) else { return false }
        // Names that differ only in digits differ on purpose.
        guard word.filter({ !$0.isNumber }) != candidate.filter({ !$0.isNumber }) else { return false }
        if word.lowercased() == candidate.lowercased() { return true }
        let distance = Suggestion.distance(word, candidate)
        if isObserved { return distance == 1 && candidate.count > 4 }
        return distance <= max(1, min(4, candidate.count / 5))
    }
}

/// The records of each thread before and after each record.
private struct ThreadOrder {
    private let recording: Recording
    private var before: [Int32]
    private var after: [Int32]

    init(_ recording: Recording) {
        self.recording = recording
        before = Array(repeating: -1, count: recording.entries.count)
        after = before
        var last = Array(repeating: Int32(-1), count: recording.threads.count)
        for (entryIndex, entry) in recording.entries.enumerated() {
            before[entryIndex] = last[Int(entry.thread)]
            if before[entryIndex] >= 0 { after[Int(before[entryIndex])] = Int32(entryIndex) }
            last[Int(entry.thread)] = Int32(entryIndex)
        }
    }

    /// True if the observer certainly existed during the whole time in which the post was matched. Decided by the
    /// records of its threads before and after.
    func isSurelyDuring(_ post: Int32, _ registered: Int32, _ removed: Int32) -> Bool {
        let thread = recording.entries[Int(post)].thread
        if thread != recording.entries[Int(registered)].thread {
            let added = after[Int(registered)]
            guard added >= 0, before[Int(post)] > added else { return false }
        }
        guard removed >= 0, thread != recording.entries[Int(removed)].thread else { return true }
        return post < before[Int(removed)]
    }
}

extension [Int32] {
    /// In ascending indices, the position of the first one that is greater.
    fileprivate func firstIndex(after entryIndex: Int32) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= entryIndex { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
