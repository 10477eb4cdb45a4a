internal import DeliveryRecording

/// Rules about deliveries, and about notifications that wait.
extension CheckedRule {
    private var deliveries: [RecordingIndex.Delivery] {
        name == nil ? index.deliveries : index.deliveries.filter { isOfName(index.name(of: $0)) }
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
        let peaks = Dictionary(grouping: deliveries.filter { $0.append >= 0 }, by: \.observer).mapValues(highest)
        let most = peaks.values.map(\.depth).max() ?? 0
        return result(
            "at most \(most) waiting", unless: peaks.filter { $0.value.depth > rule.count }.map { [$0] },
            "up to \(most) waiting"
        ) { peaks in
            let (observer, peak) = peaks[0]
            return Finding(
                problem: "\(peak.depth) waited for \(words.observer(observer, name: name ?? -1)) at the same time",
                evidence: [peak.entry, words.registered(observer)])
        }
    }

    /// The greatest number that waits at the same time, and the record with which it is reached.
    private func highest(_ deliveries: [RecordingIndex.Delivery]) -> (depth: Int, entry: Int32) {
        let ends = deliveries.map { $0.outcome >= 0 ? $0.outcome : $0.skip }.filter { $0 >= 0 }.sorted()
        var highest = (depth: 0, entry: Int32(-1))
        for (number, begin) in deliveries.map(\.append).sorted().enumerated() {
            let depth = number + 1 - ends.firstIndex(after: begin)
            if depth > highest.depth { highest = (depth, begin) }
        }
        return highest
    }

    // MARK: Outcomes

    private static let wanted: [Accounts.Count] = [.delivered, .coalesced, .cancelled]
    private static let unwanted: [Accounts.Count] = [.dropped, .targetGone, .pending, .lost]

    /// `Saved delivered`, `everything delivered`: whether the handler of each observer that a post matched was called.
    /// A notification that a later one replaced, or that was cancelled because its observer was removed, need not be
    /// delivered.
    func delivered() -> RuleResult {
        let accounts = Accounts(index)
        var counts = accounts.sum(.notifications, name: name)
        if name == nil { counts += accounts.sum(.blocks) }
        let queued = accounts.sum(.queues, name: name)
        let enqueued = queued[.pending] + queued[.targetGone]
        let missed = Self.unwanted.reduce(0) { $0 + counts[$1] }
        let all = counts.words(of: Self.wanted + Self.unwanted)
        if missed + enqueued > 0 {
            let never = enqueued == 0 ? "" : "\(enqueued) enqueued and never posted"
            return fails(
                [all, never].filter { !$0.isEmpty }.joined(separator: "; "), undelivered + ofPosts(accounts))
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

    /// One finding for each observer and outcome.
    private var undelivered: [Finding] {
        let found = deliveries.filter { delivery in
            delivery.isPending
                || delivery.outcome >= 0 && [.drop, .targetGone].contains(index.entry(delivery.outcome).stage)
        }
        return Dictionary(grouping: found) { delivery in
            let stage = delivery.isPending ? "" : index.entry(delivery.outcome).stage.rawValue
            return "\(delivery.observer) \(index.name(of: delivery)) \(stage)"
        }.values.map { deliveries in
            let first = deliveries[0]
            let more = deliveries.count == 1 ? "" : ", as \(deliveries.count - 1) more"
            return Finding(
                problem: "\(words.post(first.post)) was not delivered to "
                    + "\(words.observer(first.observer, name: index.name(of: first))): \(words.outcome(of: first))\(more)",
                evidence: [
                    index.posts[Int(first.post)].posted, first.outcome >= 0 ? first.outcome : first.append,
                    words.registered(first.observer),
                ])
        }
    }

    /// Posts that did not return, that never left their posting queue, or that have no record for an observer.
    private func ofPosts(_ accounts: Accounts) -> [Finding] {
        func finding(_ post: Int32, _ problem: String, _ evidence: [Int32]) -> Finding? {
            isOfName(index.name(ofPost: post))
                ? Finding(problem: "\(words.post(post)) \(problem)", evidence: evidence) : nil
        }
        let unfinished = accounts.unfinished.compactMap { post, observer in
            let reached = observer < 0 ? "" : " and had not reached \(words.observer(observer))"
            return finding(
                post, "had not returned when the recording ended\(reached)",
                [index.posts[Int(post)].posted, words.registered(observer)])
        }
        let neverPosted = zip(Int32(0)..., index.posts).filter { _, post in
            post.enqueued >= 0 && (post.queueOutcome < 0 || index.entry(post.queueOutcome).stage == .targetGone)
        }.compactMap { finding($0, "was never posted", [$1.enqueued, $1.queueOutcome]) }
        let lost = accounts.mismatched.filter { $0.missing > 0 }.compactMap { post, missing, observers in
            finding(post, words.mismatch(post, missing, observers), [index.posts[Int(post)].posted])
        }
        return unfinished + neverPosted + lost
    }
}

extension RecordWords {
    /// For example `target gone (line 6)`.
    func outcome(of delivery: RecordingIndex.Delivery) -> String {
        if delivery.isPending { return "it waited when the recording ended" }
        let entry = index.entry(delivery.outcome >= 0 ? delivery.outcome : delivery.skip)
        let outcome = delivery.outcome >= 0 ? Accounts.Count(entry.stage)?.words ?? entry.stage.rawValue : "skipped"
        let place = entry.stage == .deliver ? " on \(thread(entry.thread))" : ""
        return "\(outcome)\(place) (line \(entry.line))"
    }
}
