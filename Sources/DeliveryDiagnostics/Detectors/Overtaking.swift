internal import DeliveryRecording

extension Detector {
    /// Finds notifications of one poster that reached one observer in a different order than posted (guarantee 4), and
    /// deliveries that overtook others because of the observer's policy.
    static let overtaken = Detector(
        "overtaken", "an observer received one thread's posts in another order", formerly: ["overtakesByPolicy"]
    ) { $0.inverted + $0.overtakenByPolicy }
}

extension Evidence {
    private var handlersOfPosts: some Sequence<RecordingIndex.Span> {
        index.spans.lazy.filter { [index] in !$0.isWait && index.entry($0.begin).post >= 0 }
    }

    fileprivate var inverted: [Finding] {
        struct Inversion {
            let handler: RecordingIndex.Span
            let entry: Recording.Entry
            /// The handler of the later post.
            let before: Int32
            let isNested: Bool
        }
        /// For each observer and posting thread, the last post delivered: its `post` and `deliver` entries.
        var last: [UInt64: (posted: Int32, delivered: Int32)] = [:]
        let inversions = handlersOfPosts.compactMap { span -> Inversion? in
            let entry = index.entry(span.begin)
            let posted = index.posts[Int(entry.post)].posted
            guard !entry.overtakes, posted >= 0 else { return nil }
            // If observers cannot be told apart, there is one per name.
            let way = indexPair(index.entry(posted).thread, entry.observer >= 0 ? entry.observer : -2 - entry.name)
            guard let before = last[way], before.posted > posted else {
                last[way] = (posted, span.begin)
                return nil
            }
            return Inversion(
                handler: span, entry: entry, before: before.delivered,
                isNested: isCaused(index.entry(before.delivered).post, by: entry.post))
        }
        return inversions.grouped { [$0.entry.observer, $0.entry.name, $0.isNested ? 1 : 0] }.map { found in
            let first = found[0]
            return Finding(
                problem: "\(words.observer(of: first.handler)) received one thread's posts in another order: "
                    + "\(words.times(found.count)) a later post was handled before an earlier one"
                    + (first.isNested ? ", although a handler of the earlier one posted it." : "."),
                evidence: [words.posted(first.entry), first.before, first.handler.begin],
                remedy: first.isNested
                    ? "A handler posted while its own notification was still being posted, so later observers on the "
                        + "posting thread received the new one first. Observe on a particular thread, which handles "
                        + "notifications in order, or post through a PostingQueue."
                    : "Redirect only once, with one observer and one thread, and post from one thread if the order "
                        + "matters. Two ThreadedNotificationCenters, or a queue, do not keep the order.",
                weight: found.count, name: first.entry.name)
        }
    }

    fileprivate var overtakenByPolicy: [Finding] {
        handlersOfPosts.map(\.begin).filter { index.entry($0).overtakes }.grouped { index.entry($0).observer }.map {
            found in
            let observer = index.entry(found[0]).observer
            return Finding(
                severity: .note,
                problem: "\(observer >= 0 ? words.observer(observer) : "an observer") received "
                    + "\(counted(found.count, "notification")) ahead of others that were waiting.",
                evidence: [words.registered(observer), found[0]],
                remedy: "This is the effect of SameThreadPolicy.atOnce. With .ordered, notifications keep their order.",
                weight: found.count, name: index.entry(found[0]).name, formerKind: "overtakesByPolicy")
        }
    }

    /// True if a post was made in a handler of another post, directly or through at most 100 other handlers.
    private func isCaused(_ post: Int32, by earlier: Int32) -> Bool {
        var post = post
        for _ in 0..<100 {
            let cause = index.posts[Int(post)].cause
            guard cause >= 0, index.spans[Int(cause)].delivery >= 0 else { return false }
            post = index.deliveries[Int(index.spans[Int(cause)].delivery)].post
            if post == earlier { return true }
        }
        return false
    }
}
