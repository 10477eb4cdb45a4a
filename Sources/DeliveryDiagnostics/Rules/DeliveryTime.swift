internal import DeliveryRecording

/// `Saved within 50 ms`: the time from a post, or from leaving its posting queue, to the begin of each handler. What
/// waits when the recording ends is too late.
struct DeliveryTime {
    private typealias Late = (delivery: RecordingIndex.Delivery, time: UInt64)

    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ text: String, _ limit: ElapsedTime) -> RuleResult {
        let (index, name) = (words.index, words.name(called: text))
        guard name >= 0 else { return RuleResult(rule, fails: words.missing(name: text)) }
        var (count, longest, late) = (0, UInt64(0), [Late]())
        for delivery in index.deliveries where index.name(of: delivery) == name {
            let posted = index.posts[Int(delivery.post)].posted
            let isDelivered = delivery.outcome >= 0 && index.entry(delivery.outcome).stage == .deliver
            guard posted >= 0, isDelivered || delivery.isPending else { continue }
            let end = isDelivered ? delivery.outcome : index.processes[index.process(ofPost: delivery.post)].last
            let time = index.time(from: posted, to: end)
            if isDelivered { (count, longest) = (count + 1, max(longest, time)) }
            if !isDelivered || time > limit.duration.nanoseconds { late.append((delivery, time)) }
        }
        guard count > 0 || !late.isEmpty else { return words.notHandled(rule, name) }
        let all = counted(count, "delivery", plural: "deliveries")
        guard !late.isEmpty else {
            return RuleResult(rule, holds: "\(all), after at most \(ElapsedTime.text(longest))")
        }
        let waiting = late.count { $0.delivery.isPending }
        let slow = late.count - waiting
        return RuleResult(
            rule,
            fails: [
                slow == 0 ? "" : "\(slow) of \(all) came later, up to \(ElapsedTime.text(longest)) after the post",
                waiting == 0 ? "" : "\(waiting) waited when the recording ended",
            ].filter { !$0.isEmpty }.joined(separator: "; "),
            Dictionary(grouping: late) { indexPair($0.delivery.observer, $0.delivery.isPending ? 1 : 0) }.values
                .map(finding))
    }

    /// - Parameter late: deliveries of one observer, all pending or none.
    private func finding(_ late: [Late]) -> Finding {
        let index = words.index
        let longest = late.reduce(late[0]) { $1.time > $0.time ? $1 : $0 }
        let delivery = longest.delivery
        let observer = words.observer(delivery.observer, name: index.name(of: delivery))
        let more = late.count == 1 ? "" : ", and was too late \(words.times(late.count))"
        return Finding(
            problem: delivery.isPending
                ? "\(observer) had not received \(counted(late.count, "notification")) when the recording ended"
                : "\(observer) received \(words.recording.describePost(delivery.post)) "
                    + "\(ElapsedTime.text(longest.time)) after it was posted\(more)",
            evidence: [
                index.posts[Int(delivery.post)].posted, delivery.outcome >= 0 ? delivery.outcome : delivery.append,
            ])
    }
}
