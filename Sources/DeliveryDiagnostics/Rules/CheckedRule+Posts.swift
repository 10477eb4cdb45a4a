internal import DeliveryRecording

/// Rules about posts, deliveries and observers.
extension CheckedRule {
    /// The posts of a name, in the order of the recording; nil means every name.
    func posts(of name: Int32?) -> [Int32] {
        index.posts.map(\.posted).filter { number in
            number >= 0 && index.isPost(number) && (name ?? index.entry(number).name) == index.entry(number).name
        }.sorted()
    }

    /// What detectors found of posts of a name that were not delivered.
    func undelivered(_ name: Int32?) -> [Finding] {
        found(
            name, by: \.dropped, \.targetsGone, \.backlog, \.enqueuedNeverPosted, \.unaccounted
        ) { evidence in
            // Of the others, the handler began in the end.
            evidence.queuesThatBlockPosters.filter { $0.thread >= 0 }
        }
    }

    /// Before a diagnosis leaves out what other findings explain.
    private func found(_ name: Int32?, by detectors: (Evidence) -> [Finding]...) -> [Finding] {
        let evidence = diagnosis().evidence
        return detectors.flatMap { $0(evidence) }.filter { name ?? $0.name == $0.name }
    }

    private var deliveries: [RecordingIndex.Delivery] {
        name == nil ? index.deliveries : index.deliveries.filter { index.name(of: $0) == name }
    }

    // MARK: Observers

    /// `Saved observed`, `every post observed`.
    func observed() -> RuleResult {
        // The program need not observe what Foundation itself posts.
        let posts = posts(of: name).filter { name != nil || !words.isCalledByFoundation($0) || isObserved($0) }
        guard !posts.isEmpty else {
            return fails("\(name.map { "\(words.name($0)) was never" } ?? "nothing was") posted")
        }
        let (count, all) = (unobserved(posts).count, counted(posts.count, "post"))
        return count == 0 ? holds(all) : fails("\(count) of \(all) had no observer", unmatched(name, posts))
    }

    private func unobserved(_ posts: [Int32]) -> [Int32] {
        // Such as a retained notification that was delivered to a later observer.
        let captured = Set(
            index.posts.map(\.posted).filter { $0 >= 0 && index.entry($0).stage == .capture && isObserved($0) }
                .map { index.entry($0).relatedPost })
        return posts.filter { !isObserved($0) && !captured.contains(index.entry($0).post) }
    }

    /// The posts of a name that did not match an observer, and what detectors found of them.
    func unmatched(_ name: Int32?, _ posts: [Int32]) -> [Finding] {
        unobserved(posts).grouped { number in
            [index.entry(number).name, index.entry(number).thread, index.entry(number).location]
        }.map { posts in
            let entry = index.entry(posts[0])
            return Finding(
                problem: "\(words.name(entry.name)) was posted by \(words.thread(entry.thread)) "
                    + "\(words.times(posts.count)) without an observer", evidence: [posts[0]])
        } + found(name, by: \.removedBeforePost, \.postedUnobserved, \.neverMatched)
    }

    /// - Parameter number: a `post` or `capture`.
    func isObserved(_ number: Int32) -> Bool {
        let entry = index.entry(number)
        // The document's technique does not record the number of observers, nor does a Foundation center before the
        // post has returned.
        return entry.count > 0 || entry.isFoundation && entry.count < 0
            || entry.post >= 0 && index.posts[Int(entry.post)].deliveryCount > 0
    }

    /// `no observer left at exit`: observers that were added and not removed.
    func noObserverLeft() -> RuleResult {
        let recording = words.recording
        if let process = recording.completeness.firstIndex(where: { $0 != .complete }) {
            let ofProcess = recording.processes.count > 1 ? " of process \(recording.processes[process].id)" : ""
            let how = recording.completeness[process].isComplete ? "ended without notice" : "is truncated"
            return fails("the recording\(ofProcess) \(how): it does not say which observers were left at exit")
        }
        // Foundation keeps observers of its own.
        let added = index.observers.indices.map(Int32.init).filter {
            words.registered($0) >= 0 && !words.isCalledByFoundation(words.registered($0))
        }
        let left = added.filter { words.removed($0) < 0 }
        let isStopped = index.processes.contains { $0.end >= 0 && index.entry($0.end).reason == .stopped }
        let all = counted(added.count, "observer") + (isStopped ? " when the recording was stopped" : "")
        return result(
            all, unless: left.grouped { [index.registration(of: $0)?.name, index.registration(of: $0)?.location] },
            "\(left.count) of \(all) \(left.count == 1 ? "was" : "were") not removed"
        ) { observers in
            let more = observers.count - 1
            return Finding(
                problem: words.observer(observers[0])
                    + (more == 0 ? " was" : " and \(more) more that \(more == 1 ? "was" : "were") added there were")
                    + " not removed", evidence: [words.registered(observers[0])])
        }
    }

    // MARK: Deliveries

    /// `Saved delivered`, `everything delivered`: whether the handler of each observer that a post matched was called.
    /// A notification that a later one replaced, or that was cancelled because its observer was removed, need not be
    /// delivered.
    func delivered() -> RuleResult {
        let accounts = diagnosis().evidence.accounts
        var counts = accounts.sum(.notifications, name: name)
        if name == nil { counts += accounts.sum(.blocks) }
        let queued = accounts.sum(.queues, name: name)
        let enqueued = queued[.pending] + queued[.targetGone]
        let unwanted: [Accounts.Count] = [.dropped, .targetGone, .pending, .lost]
        let missed = unwanted.reduce(0) { $0 + counts[$1] }
        let all = counts.words(of: [.delivered, .coalesced, .cancelled] + unwanted)
        if missed + enqueued > 0 {
            let never = enqueued == 0 ? "" : "\(enqueued) enqueued and never posted"
            return fails([all, never].filter { !$0.isEmpty }.joined(separator: "; "), undelivered(name))
        }
        if let process = words.recording.endedWithoutNotice.first {
            return fails(
                "process \(words.recording.processes[process].id) ended without notice, so it may not have delivered "
                    + "everything\(all.isEmpty ? "" : ": \(all)")")
        }
        if counts[.matched] > 0 { return holds(all) }
        let count = posts(of: name).count
        let posts = counted(count, "post")
        return fails(
            count == 0
                ? name.map { "\(words.name($0)) was never posted" } ?? "nothing was posted"
                : accounts.sum(.unobserved, name: name)[.matched] == count
                    ? "none of \(posts) had an observer" : "no handler was due for \(posts)")
    }

    /// `Saved within 50 ms`: the time from a post, or from leaving its posting queue, to the begin of each handler. A
    /// delivery that waits when the recording ends is too late.
    func deliveredInTime() -> RuleResult {
        let calls = deliveries.compactMap { delivery -> Call? in
            let posted = index.posts[Int(delivery.post)].posted
            let isDelivered = delivery.outcome >= 0 && index.entry(delivery.outcome).stage == .deliver
            guard posted >= 0, isDelivered || delivery.isPending else { return nil }
            let end = isDelivered ? delivery.outcome : index.processes[index.process(ofPost: delivery.post)].last
            return Call(
                kind: [delivery.observer, index.name(of: delivery), delivery.isPending ? 1 : 0], begin: posted,
                end: end,
                isEndless: delivery.isPending)
        }
        guard !calls.isEmpty else { return notHandled(name) }
        return no("delivery", plural: "deliveries", in: calls) { call, time in
            let observer = words.observer(call.kind[0], name: call.kind[1])
            let post = words.recording.describePost(index.entry(call.begin).post)
            return call.isEndless
                ? "\(observer) had not received \(post) when the recording ended, \(time) after it was posted"
                : "\(observer) received \(post) \(time) after it was posted"
        }
    }

    /// `Progress at most 3 waiting`: the notifications of a name that wait for one observer at the same time.
    func waiting() -> RuleResult {
        /// For each observer: the greatest number that waits at the same time, and the record with which it is reached.
        let peaks = deliveries.filter { $0.append >= 0 }.grouped(by: \.observer).map { deliveries in
            let ends = deliveries.map { $0.outcome >= 0 ? $0.outcome : $0.skip }.filter { $0 >= 0 }.sorted()
            let depths = zip(1..., deliveries.map(\.append).sorted()).map { ($0 - ends.firstIndex(after: $1), $1) }
            let peak = depths.reduce((0, -1)) { $1.0 > $0.0 ? $1 : $0 }
            return (observer: deliveries[0].observer, depth: peak.0, entry: peak.1)
        }
        let most = peaks.map(\.depth).max() ?? 0
        return result(
            "at most \(most) waiting", unless: peaks.filter { $0.depth > rule.count }.map { [$0] },
            "up to \(most) waiting"
        ) { peaks in
            let (observer, depth, entry) = peaks[0]
            return Finding(
                problem: "\(depth) waited for \(words.observer(observer, name: name ?? -1)) at the same time",
                evidence: [entry, words.registered(observer)])
        }
    }

    // MARK: Posts

    /// `at most 100 Progress per second`: the posts of a name in any second of a process.
    func posted() -> RuleResult {
        let posts = posts(of: name)
        let most = posts.grouped { words.recording.process(of: index.entry($0)) }.map(mostInASecond)
        let (highest, all) = (most.map(\.count).max() ?? 0, counted(posts.count, "post"))
        return result(
            highest == 0 ? all : "\(all), at most \(highest) in a second",
            unless: most.filter { $0.count > rule.count }.map { [$0] }, "\(all), up to \(highest) in a second"
        ) { found in
            let (count, first, last) = found[0]
            return Finding(
                problem: "\(words.name(name ?? -1)) was posted \(words.times(count)) in "
                    + ElapsedTime.text(index.time(from: first, to: last)), evidence: [first, last])
        }
    }

    /// The most posts in any time shorter than a second.
    private func mostInASecond(_ posts: [Int32]) -> (count: Int, first: Int32, last: Int32) {
        var (most, begin) = ((count: 0, first: Int32(-1), last: Int32(-1)), 0)
        for (end, post) in posts.enumerated() {
            while index.time(from: posts[begin], to: post) >= 1_000_000_000 { begin += 1 }
            if end - begin + 1 > most.count { most = (end - begin + 1, posts[begin], post) }
        }
        return most
    }

    /// `no post longer than 5 ms`: the time that a post occupies its thread.
    ///
    /// A post to a Foundation center returns with its `postEnd`, or lasts until its process ends. A post of the library
    /// has no record of its return. It has returned at the earliest with the last record of its thread that its call
    /// made: handing it to a mailbox, the return of a handler that ran inside it, or the end of the wait around it.
    func noLongPost() -> RuleResult {
        let calls = zip(Int32(0)..., index.posts).compactMap { number, post -> Call? in
            guard post.posted >= 0, index.isPost(post.posted) else { return nil }
            let (entry, around) = (index.entry(post.posted), index.spanAroundEntry[Int(post.posted)])
            var (begin, ends) = (post.posted, [post.posted, post.returned])
            if entry.isFoundation, post.returned < 0 {
                ends.append(index.processes[words.recording.process(of: entry)].last)
            }
            // A wait for the post's handlers has its source location.
            if around >= 0, case let wait = index.spans[Int(around)], wait.isWait, entry.location >= 0,
                index.entry(wait.begin).location == entry.location
            {
                begin = wait.begin
                ends.append(knownEnd(of: wait) ?? -1)
            }
            for delivery in index.deliveries(ofPost: number).map({ index.deliveries[$0] }) {
                if delivery.append >= 0 {
                    if index.entry(delivery.append).thread == entry.thread { ends.append(delivery.append) }
                } else if delivery.span >= 0, case let span = index.spans[Int(delivery.span)], span.outer == around,
                    // The handlers of another thread are not inside the call.
                    span.thread == entry.thread
                {
                    ends.append(knownEnd(of: span) ?? span.begin)
                }
            }
            let location = index.entry(words.source(ofPost: number)).location
            return Call(kind: [entry.name, entry.thread, location], begin: begin, end: ends.max() ?? begin)
        }
        return no("post", in: calls) { call, time in
            "a post of \(words.name(call.kind[0])) blocked \(words.thread(call.kind[1])) for \(time)"
        }
    }
}
