internal import DeliveryRecording

/// Rules about deliveries, and about notifications that wait.
extension CheckedRule {
    private func deliveries(of name: Int32?) -> [RecordingIndex.Delivery] {
        name.map { name in index.deliveries.filter { index.name(of: $0) == name } } ?? index.deliveries
    }

    /// `Saved within 50 ms`: the time from a post, or from leaving its posting queue, to the begin of each handler. A
    /// delivery that waits when the recording ends is too late.
    func delivered(_ name: Int32, within limit: ElapsedTime) -> RuleResult {
        typealias Late = (delivery: RecordingIndex.Delivery, time: UInt64)
        var (count, longest, late) = (0, UInt64(0), [Late]())
        for delivery in deliveries(of: name) {
            let posted = index.posts[Int(delivery.post)].posted
            let isDelivered = delivery.outcome >= 0 && index.entry(delivery.outcome).stage == .deliver
            guard posted >= 0, isDelivered || delivery.isPending else { continue }
            let end = isDelivered ? delivery.outcome : index.processes[index.process(ofPost: delivery.post)].last
            let time = index.time(from: posted, to: end)
            if isDelivered { (count, longest) = (count + 1, max(longest, time)) }
            if !isDelivered || time > limit.duration.nanoseconds { late.append((delivery, time)) }
        }
        guard count > 0 || !late.isEmpty else { return notHandled(name) }
        let all = counted(count, "delivery", plural: "deliveries")
        guard !late.isEmpty else { return holds("\(all), after at most \(ElapsedTime.text(longest))") }
        let waiting = late.count { $0.delivery.isPending }
        let slow = late.count - waiting
        return fails(
            [
                slow == 0 ? "" : "\(slow) of \(all) came later, up to \(ElapsedTime.text(longest)) after the post",
                waiting == 0 ? "" : "\(waiting) waited when the recording ended",
            ].filter { !$0.isEmpty }.joined(separator: "; "),
            Dictionary(grouping: late) { [$0.delivery.observer, $0.delivery.isPending ? 1 : 0] }.values.map { late in
                let longest = late.reduce(late[0]) { $1.time > $0.time ? $1 : $0 }
                let delivery = longest.delivery
                let more = late.count == 1 ? "" : ", and was too late \(words.times(late.count))"
                return Finding(
                    problem: words.observer(delivery.observer, name: index.name(of: delivery))
                        + (delivery.isPending
                            ? " had not received \(counted(late.count, "notification")) when the recording ended"
                            : " received \(words.recording.describePost(delivery.post)) "
                                + "\(ElapsedTime.text(longest.time)) after it was posted\(more)"),
                    evidence: [
                        index.posts[Int(delivery.post)].posted,
                        delivery.outcome >= 0 ? delivery.outcome : delivery.append,
                    ])
            })
    }

    /// `Progress at most 3 waiting`: the notifications of a name that wait for one observer at the same time.
    func waiting(_ name: Int32, atMost limit: Int) -> RuleResult {
        let waiting = deliveries(of: name).filter { $0.append >= 0 }
        let peaks = Dictionary(grouping: waiting, by: \.observer).mapValues(highest)
        let most = peaks.values.map(\.depth).max() ?? 0
        guard most > limit else { return holds("at most \(most) waiting") }
        return fails(
            "up to \(most) waiting",
            peaks.filter { $0.value.depth > limit }.map { observer, peak in
                Finding(
                    problem: "\(peak.depth) waited for \(words.observer(observer, name: name)) at the same time",
                    evidence: [peak.entry, words.registered(observer)])
            })
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
    ///
    /// - Parameter name: nil means every name, and blocks.
    func delivered(_ name: Int32?) -> RuleResult {
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
                [all, never].filter { !$0.isEmpty }.joined(separator: "; "),
                undelivered(name) + unfinished(accounts, name) + neverPosted(name) + lost(accounts, name))
        }
        if let process = words.recording.endedWithoutNotice.first {
            return fails(
                "process \(words.recording.processes[process].id) ended without notice, so it may not have delivered "
                    + "everything\(all.isEmpty ? "" : ": \(all)")")
        }
        if counts[.matched] > 0 { return holds(all) }
        let count = posts(of: name).reduce(0) { $0 + $1.count }
        let posts = counted(count, "post")
        return fails(
            count == 0
                ? name.map { "\(words.name($0)) was never posted" } ?? "nothing was posted"
                : accounts.sum(.unobserved, name: name)[.matched] == count
                    ? "none of \(posts) had an observer" : "no handler was due for \(posts)")
    }

    private func isOf(_ name: Int32?, _ post: Int32) -> Bool { name == nil || name == index.name(ofPost: post) }

    /// One finding for each observer and outcome.
    private func undelivered(_ name: Int32?) -> [Finding] {
        var found: [[Int32]: [RecordingIndex.Delivery]] = [:]
        for delivery in deliveries(of: name) {
            let stage = delivery.outcome < 0 ? nil : index.entry(delivery.outcome).stage
            guard delivery.isPending || stage == .drop || stage == .targetGone else { continue }
            let outcome: Int32 = delivery.isPending ? 0 : stage == .drop ? 1 : 2
            found[[delivery.observer, index.name(of: delivery), outcome], default: []].append(delivery)
        }
        return found.values.map { deliveries in
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

    private func unfinished(_ accounts: Accounts, _ name: Int32?) -> [Finding] {
        accounts.unfinished.filter { isOf(name, $0.post) }.map { post, observer in
            let reached = observer < 0 ? "" : " and had not reached \(words.observer(observer))"
            return Finding(
                problem: "\(words.post(post)) had not returned when the recording ended\(reached)",
                evidence: [index.posts[Int(post)].posted, words.registered(observer)])
        }
    }

    private func neverPosted(_ name: Int32?) -> [Finding] {
        index.posts.indices.map(Int32.init).filter { number in
            let post = index.posts[Int(number)]
            return post.enqueued >= 0 && isOf(name, number)
                && (post.queueOutcome < 0 || index.entry(post.queueOutcome).stage == .targetGone)
        }.map { number in
            let post = index.posts[Int(number)]
            return Finding(
                problem: "\(words.post(number)) was never posted", evidence: [post.enqueued, post.queueOutcome])
        }
    }

    private func lost(_ accounts: Accounts, _ name: Int32?) -> [Finding] {
        accounts.mismatched.filter { $0.missing > 0 && isOf(name, $0.post) }.map { post, missing, observers in
            Finding(
                problem: "\(words.post(post)) \(words.mismatch(post, missing, observers))",
                evidence: [index.posts[Int(post)].posted])
        }
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
