internal import DeliveryRecording

/// `at most 100 Progress per second`: the posts of a name in any second of a process.
struct PostRate {
    private static let second: UInt64 = 1_000_000_000

    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ limit: Int, _ text: String) -> RuleResult {
        let name = words.name(called: text)
        guard name >= 0 else { return RuleResult(rule, holds: words.missing(name: text)) }
        let posts = words.posts(of: name)
        let most = posts.map(mostInASecond)
        let highest = most.map(\.count).max() ?? 0
        let all = counted(posts.reduce(0) { $0 + $1.count }, "post")
        let inASecond = "at most \(highest) in a second"
        guard highest > limit else { return RuleResult(rule, holds: highest == 0 ? all : "\(all), \(inASecond)") }
        return RuleResult(
            rule, fails: "\(all), up to \(highest) in a second",
            most.filter { $0.count > limit }.map { found in
                Finding(
                    problem: "\(words.name(name)) was posted \(words.times(found.count)) in "
                        + ElapsedTime.text(words.index.time(from: found.first, to: found.last)),
                    evidence: [found.first, found.last])
            })
    }

    /// The most posts in any time shorter than a second.
    private func mostInASecond(_ posts: [Int32]) -> (count: Int, first: Int32, last: Int32) {
        var most = (count: 0, first: Int32(-1), last: Int32(-1))
        var begin = 0
        for (end, post) in posts.enumerated() {
            while words.index.time(from: posts[begin], to: post) >= Self.second { begin += 1 }
            if end - begin + 1 > most.count { most = (end - begin + 1, posts[begin], post) }
        }
        return most
    }
}
