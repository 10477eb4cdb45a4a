internal import DeliveryRecording

/// `Saved delivered`, `everything delivered`: whether the handler of each observer that a post matched was called. What
/// a later notification replaced, and what was cancelled because its observer was removed, need not be delivered.
struct PostsDelivered {
    private let rule: Rule
    private let words: RecordWords
    private var index: RecordingIndex { words.index }

    private static let wanted: [Accounts.Count] = [.delivered, .coalesced, .cancelled]
    private static let unwanted: [Accounts.Count] = [.dropped, .targetGone, .pending, .lost]

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    /// - Parameter text: the name; nil means every name, and blocks.
    func result(_ text: String?) -> RuleResult {
        let name = text.map { words.name(called: $0) }
        if let text, name == -1 { return RuleResult(rule, fails: words.missing(name: text)) }
        let accounts = Accounts(index)
        var counts = accounts.sum(.notifications, name: name)
        if name == nil { counts += accounts.sum(.blocks) }
        let queued = accounts.sum(.queues, name: name)
        let enqueued = queued[.pending] + queued[.targetGone]
        let undelivered = Self.unwanted.reduce(0) { $0 + counts[$1] }
        let all = counts.words(of: Self.wanted + Self.unwanted)
        if undelivered + enqueued > 0 {
            let never = enqueued == 0 ? "" : "\(enqueued) enqueued and never posted"
            return RuleResult(
                rule, fails: [all, never].filter { !$0.isEmpty }.joined(separator: "; "),
                deliveries(name) + unfinished(accounts, name) + neverPosted(name) + lost(accounts, name))
        }
        if let process = words.recording.endedWithoutNotice.first {
            return RuleResult(
                rule,
                fails: "process \(words.recording.processes[process].id) ended without notice, so it may not have "
                    + "delivered everything\(all.isEmpty ? "" : ": \(all)")")
        }
        guard counts[.matched] > 0 else {
            let posts = words.posts(of: name).reduce(0) { $0 + $1.count }
            let subject = name.map(words.name) ?? "nothing"
            return RuleResult(
                rule,
                fails: posts == 0
                    ? "\(name == nil ? "nothing" : subject) was \(name == nil ? "" : "never ")posted"
                    : accounts.sum(.unobserved, name: name)[.matched] == posts
                        ? "none of \(counted(posts, "post")) had an observer"
                        : "no handler was due for \(counted(posts, "post"))")
        }
        return RuleResult(rule, holds: all)
    }

    /// One finding for each observer and outcome.
    private func deliveries(_ name: Int32?) -> [Finding] {
        var found: [[Int32]: [RecordingIndex.Delivery]] = [:]
        for delivery in index.deliveries where name.map({ index.name(of: delivery) == $0 }) ?? true {
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
        accounts.unfinished.compactMap { post, observer in
            guard name.map({ index.name(ofPost: post) == $0 }) ?? true else { return nil }
            let reached = observer < 0 ? "" : " and had not reached \(words.observer(observer))"
            return Finding(
                problem: "\(words.post(post)) had not returned when the recording ended\(reached)",
                evidence: [index.posts[Int(post)].posted, words.registered(observer)])
        }
    }

    private func neverPosted(_ name: Int32?) -> [Finding] {
        index.posts.indices.compactMap { number in
            let post = index.posts[number]
            guard post.enqueued >= 0, name.map({ index.name(ofPost: Int32(number)) == $0 }) ?? true,
                post.queueOutcome < 0 || index.entry(post.queueOutcome).stage == .targetGone
            else { return nil }
            return Finding(
                problem: "\(words.post(Int32(number))) was never posted", evidence: [post.enqueued, post.queueOutcome])
        }
    }

    private func lost(_ accounts: Accounts, _ name: Int32?) -> [Finding] {
        accounts.mismatched.compactMap { post, missing, observers in
            guard missing > 0, name.map({ index.name(ofPost: post) == $0 }) ?? true else { return nil }
            return Finding(
                problem: "\(words.post(post)) \(words.mismatch(post, missing, observers))",
                evidence: [index.posts[Int(post)].posted])
        }
    }
}

extension RecordWords {
    /// For example `target gone (line 6)`.
    func outcome(of delivery: RecordingIndex.Delivery) -> String {
        if delivery.isPending { return "it waited when the recording ended" }
        let number = delivery.outcome >= 0 ? delivery.outcome : delivery.skip
        let entry = index.entry(number)
        let outcome = delivery.outcome >= 0 ? Accounts.Count(entry.stage)?.words ?? entry.stage.rawValue : "skipped"
        let place = entry.stage == .deliver ? " on \(thread(entry.thread))" : ""
        return "\(outcome)\(place) (line \(entry.line))"
    }

    /// The posts of a name with their observers and outcomes, one finding for each.
    func outcomes(ofPosts posts: [Int32]) -> [Finding] {
        posts.map { posted in
            let post = index.entry(posted).post
            guard post >= 0 else { return Finding(problem: "it was posted here", evidence: [posted]) }
            let deliveries = index.deliveries(ofPost: post).map { index.deliveries[$0] }
            let outcomes = deliveries.prefix(3).map { delivery in
                "\(observer(delivery.observer, name: index.name(of: delivery))): \(outcome(of: delivery))"
            }
            let more = deliveries.count > 3 ? ["and \(deliveries.count - 3) more"] : []
            return Finding(
                problem: deliveries.isEmpty ? "\(self.post(post)) had no observer" : "\(self.post(post)) had observers",
                evidence: [posted], details: outcomes + more)
        }
    }

    /// The observers of a name, and why a post did not match them.
    func unmatchedObservers(_ posted: Int32) -> [String] {
        let post = index.entry(posted)
        let observers = index.observers.indices.filter { number in
            let registered = index.observers[number].registered
            guard registered >= 0 else { return false }
            return index.entry(registered).name == post.name
                && recording.process(of: index.entry(registered)) == recording.process(of: post)
        }
        let lines = observers.prefix(3).map { number in
            let (registered, removed) = (index.observers[number].registered, index.observers[number].removed)
            let reason =
                registered > posted
                ? "was added later (line \(index.entry(registered).line))"
                : removed >= 0 && removed < posted
                    ? "had been removed (line \(index.entry(removed).line))" : "observes another object or center"
            return observer(Int32(number)) + location(of: registered, ", observed at ") + ", " + reason
        }
        return lines + (observers.count > 3 ? ["and \(observers.count - 3) more"] : [])
    }
}
