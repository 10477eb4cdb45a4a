internal import DeliveryRecording

/// Rules about posts, deliveries and observers.
extension CheckedRule {
    /// The posts of a name; nil means every name.
    func posts(of name: Int32?) -> [Int32] {
        index.posts.map(\.posted).filter { number in
            number >= 0 && index.isPost(number) && (name ?? index.entry(number).name) == index.entry(number).name
        }
    }

    private var deliveries: [RecordingIndex.Delivery] { index.deliveries.filter { index.name(of: $0) == name } }

    private var neverPosted: RuleResult { fails(name == nil ? "nothing was posted" : "\(named) was never posted") }

    // MARK: Observers

    /// `Saved observed`, `every post observed`.
    func observed() -> RuleResult {
        // The program need not observe what Foundation itself posts.
        let posts = posts(of: name).filter { name != nil || !words.isCalledByFoundation($0) }
        if posts.isEmpty { return neverPosted }
        // A retained notification may be delivered to a later observer.
        let captures = index.posts.filter {
            $0.posted >= 0 && index.entry($0.posted).stage == .capture && $0.deliveryCount > 0
        }
        let captured = Set(captures.map { index.entry($0.posted).relatedPost })
        let unobserved = posts.filter { !isObserved($0) && !captured.contains(index.entry($0).post) }
        let all = counted(posts.count, "post")
        if unobserved.isEmpty { return holds(all) }
        let findings = unobserved.map { ($0, index.entry($0)) }.grouped { [$1.name, $1.thread, $1.location] }.map {
            posts in
            let (number, entry) = posts[0]
            return Finding(
                problem: "\(words.name(entry.name)) was posted by \(words.thread(entry.thread)) "
                    + "\(words.times(posts.count)) without an observer", evidence: [number])
        }
        return fails("\(unobserved.count) of \(all) had no observer", findings)
    }

    private func isObserved(_ number: Int32) -> Bool {
        let entry = index.entry(number)
        // The document's technique does not record the number of observers, nor does a Foundation center before the
        // post has returned.
        return entry.count > 0 || entry.isFoundation && entry.count < 0
            || entry.post >= 0 && index.posts[Int(entry.post)].deliveryCount > 0
    }

    /// `no observer left at exit`: observers that were added and not removed.
    func noObserverLeft() -> RuleResult {
        guard words.recording.completeness.allSatisfy({ $0 == .complete }) else {
            return fails("a process was killed or the recording is truncated, so the observers at exit are unknown")
        }
        // Foundation keeps observers of its own.
        let added = index.observers.indices.map(Int32.init).filter {
            words.registered($0) >= 0 && !words.isCalledByFoundation(words.registered($0))
        }
        let (left, all) = (added.filter { words.removed($0) < 0 }, counted(added.count, "observer"))
        if left.isEmpty { return holds(all) }
        let findings = left.grouped { [index.registration(of: $0)?.name, index.registration(of: $0)?.location] }
            .map { observers in
                let more = observers.count > 1 ? ", and \(observers.count - 1) more that were added there" : ""
                return Finding(
                    problem: "\(words.observer(observers[0])) was not removed\(more)",
                    evidence: [words.registered(observers[0])])
            }
        return fails("\(left.count) of \(all) \(left.count == 1 ? "was" : "were") not removed", findings)
    }

    // MARK: Deliveries

    /// `Saved delivered`, `everything delivered`: whether the handler of each observer that a post matched was called.
    /// A notification that a later one replaced, or that was cancelled because its observer was removed, need not be
    /// delivered.
    func delivered() -> RuleResult {
        let unwanted: [Accounts.Count] = [.dropped, .targetGone, .pending, .lost]
        let accounts = Accounts(index).all.filter { $0.table != .unobserved && name ?? $0.name == $0.name }
        var sum = Accounts.Counts()
        for account in accounts {
            // What left a posting queue is counted as a post.
            let counted = account.table == .queues ? unwanted : Accounts.Count.allCases
            for count in counted { sum[count] += account.counts[count] }
        }
        let all = sum.words(of: [.delivered, .coalesced, .cancelled] + unwanted)
        if unwanted.contains(where: { sum[$0] > 0 }) { return fails(all, accounts.compactMap { missed(unwanted, $0) }) }
        if let process = words.recording.endedWithoutNotice.first {
            let id = words.recording.processes[process].id
            return fails("process \(id) ended without notice, so it may not have delivered everything")
        }
        if !all.isEmpty { return holds(all) }
        let count = posts(of: name).count
        return count == 0 ? neverPosted : fails("no handler was due for \(counted(count, "post"))")
    }

    private func missed(_ unwanted: [Accounts.Count], _ account: Accounts.Account) -> Finding? {
        let missed = account.counts.words(of: unwanted)
        if missed.isEmpty { return nil }
        let (name, observer) = (words.name(account.name), words.observer(account.observer, name: account.name))
        return Finding(
            problem: "\(account.table == .queues ? "a posting queue of \(name)" : observer): \(missed)",
            evidence: [
                account.firstDrop >= 0 ? account.firstDrop : account.first, words.registered(account.observer),
            ])
    }

    /// `Saved within 50 ms`: the time from a post, or from leaving its posting queue, to the begin of each handler. A
    /// delivery that waits when the recording ends is too late.
    func inTime() -> RuleResult {
        let calls = deliveries.compactMap { delivery -> Call? in
            let posted = index.posts[Int(delivery.post)].posted
            let isDelivered = delivery.outcome >= 0 && index.entry(delivery.outcome).stage == .deliver
            guard posted >= 0, isDelivered || delivery.isPending else { return nil }
            return Call(
                kind: [delivery.observer, delivery.isPending ? 1 : 0], begin: posted,
                end: isDelivered ? delivery.outcome : last(of: posted), isTooLate: delivery.isPending)
        }
        if calls.isEmpty { return notHandled() }
        return limited(calls, counted(calls.count, "delivery", plural: "deliveries")) { call, time in
            let observer = words.observer(call.kind[0], name: name ?? -1)
            let post = words.recording.describePost(index.entry(call.begin).post)
            return "\(observer) \(call.isTooLate ? "had not received" : "received") \(post) \(time) after it was posted"
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
        let (most, high) = (peaks.map(\.depth).max() ?? 0, peaks.filter { $0.depth > rule.count })
        if high.isEmpty { return holds("at most \(most) waiting") }
        let findings = high.map { peak in
            let observer = words.observer(peak.observer, name: name ?? -1)
            return Finding(
                problem: "\(peak.depth) waited for \(observer) at the same time",
                evidence: [peak.entry, words.registered(peak.observer)])
        }
        return fails("up to \(most) waiting", findings)
    }
}
