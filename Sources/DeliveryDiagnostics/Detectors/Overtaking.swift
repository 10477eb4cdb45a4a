internal import DeliveryRecording

extension Detector {
    /// The maximum number of handlers between a post and a nested post that it caused.
    private static let maximumDistance = 100

    /// Finds notifications of one poster that reached one observer in a different order than posted (guarantee 4), and
    /// deliveries that overtook others because of the observer's policy.
    static let overtaken = Detector(
        "overtaken", "an observer received one thread's posts in another order", formerly: ["overtakesByPolicy"]
    ) { evidence in
        let words = evidence.words
        let index = words.index
        /// For each observer and posting thread, the last post delivered: its `post` and `deliver` entries.
        var last: [UInt64: (posted: Int32, delivered: Int32)] = [:]
        /// By observer, name, and whether a handler of the earlier post made the later one (1 or 0).
        var inverted: [[Int32]: (count: Int, first: RecordingIndex.Span, before: Int32)] = [:]
        var byPolicy: [Int32: (count: Int, first: Int32)] = [:]
        for span in index.spans where !span.isWait {
            let entry = index.entry(span.begin)
            guard entry.post >= 0 else { continue }
            if entry.overtakes {
                byPolicy[entry.observer, default: (0, span.begin)].count += 1
                continue
            }
            let posted = index.posts[Int(entry.post)].posted
            guard posted >= 0 else { continue }
            // If observers cannot be told apart, there is one per name.
            let way = indexPair(index.entry(posted).thread, entry.observer >= 0 ? entry.observer : -2 - entry.name)
            if let before = last[way], before.posted > posted {
                let isNested = isCaused(index.entry(before.delivered).post, by: entry.post, index)
                inverted[[entry.observer, entry.name, isNested ? 1 : 0], default: (0, span, before.delivered)].count +=
                    1
            } else {
                last[way] = (posted, span.begin)
            }
        }
        return inverted.map { key, found in
            let (entry, isNested) = (index.entry(found.first.begin), key[2] == 1)
            return Finding(
                severity: .problem,
                problem: "\(words.observer(of: found.first)) received one thread's posts in another "
                    + "order: \(words.times(found.count)) a later post was handled before an earlier one"
                    + (isNested ? ", although a handler of the earlier one posted it." : "."),
                evidence: [words.posted(entry), found.before, found.first.begin],
                remedy: isNested
                    ? "A handler posted while its own notification was still being posted, so later observers on the "
                        + "posting thread received the new one first. Observe on a particular thread, which handles "
                        + "notifications in order, or post through a PostingQueue."
                    : "Redirect only once, with one observer and one thread, and post from one thread if the order "
                        + "matters. Two ThreadedNotificationCenters, or a queue, do not keep the order.",
                weight: found.count, name: entry.name)
        }
            + byPolicy.map { observer, found in
                Finding(
                    severity: .note,
                    problem: "\(observer >= 0 ? words.observer(observer) : "an observer") received "
                        + "\(counted(found.count, "notification")) ahead of others that were waiting.",
                    evidence: [words.registered(observer), found.first],
                    remedy:
                        "This is the effect of SameThreadPolicy.atOnce. With .ordered, notifications keep their order.",
                    weight: found.count, name: index.entry(found.first).name, formerKind: "overtakesByPolicy")
            }
    }

    /// True if a post was made in a handler of another post, directly or through other handlers.
    private static func isCaused(_ post: Int32, by earlier: Int32, _ index: RecordingIndex) -> Bool {
        var post = post
        for _ in 0..<maximumDistance {
            let cause = index.posts[Int(post)].cause
            guard cause >= 0, index.spans[Int(cause)].delivery >= 0 else { return false }
            post = index.deliveries[Int(index.spans[Int(cause)].delivery)].post
            if post == earlier { return true }
        }
        return false
    }
}
