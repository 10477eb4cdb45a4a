internal import DeliveryRecording

/// `Saved observed`, `every post observed`: posts and the number of their observers.
struct PostsObserved {
    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    /// - Parameter text: the name; nil means every name.
    func result(_ text: String?) -> RuleResult {
        let name = text.map { words.name(called: $0) }
        if let text, name == -1 { return RuleResult(rule, fails: words.missing(name: text)) }
        // The program need not observe what Foundation itself posts.
        let posts = words.posts(of: name).flatMap(\.self).filter {
            name != nil || !words.isCalledByFoundation($0) || isObserved($0)
        }
        guard !posts.isEmpty else {
            let subject = name.map { "\(words.name($0)) was never" } ?? "nothing was"
            return RuleResult(rule, fails: "\(subject) posted")
        }
        let captured = captured
        let unobserved = posts.filter { !isObserved($0) && !captured.contains(words.index.entry($0).post) }
        guard !unobserved.isEmpty else { return RuleResult(rule, holds: counted(posts.count, "post")) }
        let places = Dictionary(grouping: unobserved) { post in
            let entry = words.index.entry(post)
            return [entry.name, entry.thread, entry.location]
        }.values
        return RuleResult(
            rule, fails: "\(unobserved.count) of \(counted(posts.count, "post")) had no observer",
            places.map { posts in
                let entry = words.index.entry(posts[0])
                return Finding(
                    problem: "\(words.name(entry.name)) was posted by \(words.thread(entry.thread)) "
                        + "\(words.times(posts.count)) without an observer",
                    evidence: [posts[0]], details: words.unmatchedObservers(posts[0]))
            })
    }

    /// The posts that were observed as a capture, such as a retained notification that was delivered to a later
    /// observer.
    private var captured: Set<Int32> {
        var posts: Set<Int32> = []
        for capture in words.index.posts.map(\.posted) where capture >= 0 && isObserved(capture) {
            if words.index.entry(capture).stage == .capture { posts.insert(words.index.entry(capture).relatedPost) }
        }
        return posts
    }

    /// - Parameter number: a `post` or `capture`.
    private func isObserved(_ number: Int32) -> Bool {
        let entry = words.index.entry(number)
        // The document's technique does not record the number of observers, nor does a Foundation center before the
        // post has returned.
        return entry.count > 0 || entry.isFoundation && entry.count < 0
            || entry.post >= 0 && words.index.posts[Int(entry.post)].deliveryCount > 0
    }
}
