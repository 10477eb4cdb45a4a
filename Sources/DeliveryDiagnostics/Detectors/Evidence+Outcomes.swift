internal import DeliveryRecording
internal import TerminalText

/// What became of notifications and blocks, other than that they were delivered in order.
extension Evidence {
    /// Notifications that an observer's overflow policy dropped (guarantee 12).
    var dropped: [Finding] {
        zip(Int32(0)..., matches).filter { $1.counts[.dropped] > 0 }.map { observer, matches in
            let (drop, count) = (index.entry(matches.firstDrop), matches.counts[.dropped])
            let policy = recording.details(of: drop).map { " (\(Excerpt.of($0)))" } ?? ""
            return Finding(
                severity: .note,
                problem: "The overflow policy\(policy) of \(words.observer(observer)) dropped \(count) of "
                    + "\(counted(matches.counts[.matched], "notification")).",
                evidence: [words.registered(observer), matches.firstDrop],
                remedy: "If every notification matters, use a larger capacity or a faster handler, or post less.",
                weight: count, name: drop.name)
        }
    }

    // MARK: Threads that are gone

    /// What was for a thread that is gone, by observer, name and target.
    private func gone(neverStarted: Bool) -> [[RecordingIndex.Delivery]] {
        index.deliveries.filter { delivery in
            guard delivery.outcome >= 0, case let entry = index.entry(delivery.outcome) else { return false }
            return entry.stage == .targetGone && (entry.reason == .notStarted) == neverStarted
        }.grouped { [$0.observer, index.name(of: $0), index.target(of: $0)] }
    }

    var neverStarted: [Finding] {
        gone(neverStarted: true).map { deliveries in
            let (first, target, count) = (deliveries[0], index.target(of: deliveries[0]), deliveries.count)
            let noun = first.observer < 0 && index.name(of: first) < 0 ? "block" : "notification"
            let thread = target < 0 ? "the target thread" : words.thread(target)
            return Finding(
                problem: "\(counted(count, noun)) \(count == 1 ? "was" : "were") not accepted because \(thread) was "
                    + "never started.",
                evidence: [
                    words.registered(first.observer), target < 0 ? -1 : index.threads[Int(target)].end,
                    (deliveries.first(where: isAfterEnd) ?? first).outcome,
                ],
                remedy: "Call start() on the RunLoopThread before you use it as a target"
                    + (target < 0 ? "." : ": \(words.numberedThread(target))."), weight: count,
                name: index.name(of: first))
        }
    }

    /// What was for a thread that had ended, or that ended before it handled it (guarantee 10).
    var targetsGone: [Finding] {
        let gone = gone(neverStarted: false)
        if gone.isEmpty { return [] }
        /// The threads that handled what waited for them at least once.
        let served = Set(
            index.records(of: .drain).map { index.entry($0).thread }
                + index.spans.filter { $0.delivery >= 0 && index.deliveries[Int($0.delivery)].append >= 0 }.map(
                    \.thread))
        return gone.map { deliveries in
            let (target, observer, count) = (index.target(of: deliveries[0]), deliveries[0].observer, deliveries.count)
            let (name, late) = (index.name(of: deliveries[0]), deliveries.filter(isAfterEnd))
            let (isMain, isBlock, early) = (index.isMain(target), observer < 0 && name < 0, count - late.count)
            let first = late.first ?? deliveries[0]
            let thread = target < 0 ? "the target thread" : words.thread(target)
            let (numbered, noun) = (words.numberedThread(target), isBlock ? "block" : "notification")
            // Its own thread added it, such as with .current, and may not run its run loop.
            let deliveredNothing =
                target >= 0 && !served.contains(target) && index.registration(of: observer)?.thread == target
            let parts = [
                (late.count, "\(isBlock ? "handed over" : "posted") after \(thread) had ended"),
                (early, "still waiting when \(thread) ended"),
            ].filter { $0.0 > 0 }.map { "\(counted($0, noun)) \($1)" }
            let subject =
                isBlock
                ? "Some blocks were never performed:" : "\(words.observer(observer, name: name)) did not receive"
            let more = deliveredNothing ? ", which delivered nothing that waited for it" : ""
            let remedy =
                isMain
                ? "The main thread ended before the program. \(Self.asyncMain)"
                : deliveredNothing
                    ? "After \(numbered) added the observer, it must run its run loop, with RunLoop.current.run(), until "
                        + "everything is handled; or use a RunLoopThread."
                    : late.isEmpty
                        ? "Let \(numbered) handle what waits before it ends: wait for that with "
                            + "\(isBlock ? "performAndWait" : "postAndWait(_:timeout:)") before the thread is told to end. "
                            + "A RunLoopThread handles what was posted before stop()."
                        : isBlock
                            ? "Perform blocks before their thread stops, or keep the thread: perform(_:) throws if it "
                                + "has ended."
                            : "Cancel the observer's token before its thread stops, or keep the thread. "
                                + "DeliveryCounters.targetGone tells the poster."
            return Finding(
                severity: !late.isEmpty || isMain ? .problem : .note,
                problem: "\(subject) \(parts.joined(separator: ", and "))\(more).",
                evidence: [
                    words.registered(observer), target < 0 ? -1 : index.threads[Int(target)].end, first.outcome,
                ], remedy: remedy, weight: count, name: name)
        }
    }

    /// If the thread that posted also recorded `targetGone`, the post came too late. Otherwise the target thread
    /// abandoned it when it ended.
    private func isAfterEnd(_ delivery: RecordingIndex.Delivery) -> Bool {
        let target = index.target(of: delivery)
        let end = target < 0 ? -1 : index.threads[Int(target)].end
        return end >= 0
            ? delivery.first > end
            : delivery.append < 0 || index.entry(delivery.outcome).thread == index.entry(delivery.first).thread
    }

    // MARK: Order

    /// Notifications of one poster that reached one observer in a different order than posted (guarantee 4).
    var inverted: [Finding] {
        /// For each observer and posting thread, the last post delivered: its `post` and `deliver` entries.
        var last: [UInt64: (posted: Int32, delivered: Int32)] = [:]
        let inversions = handlersOfPosts.compactMap { handler -> (handler: Int32, before: Int32, isNested: Bool)? in
            let entry = index.entry(handler)
            let posted = words.posted(entry)
            guard !entry.overtakes, posted >= 0 else { return nil }
            // If observers cannot be told apart, there is one per name.
            let way = indexPair(index.entry(posted).thread, entry.observer >= 0 ? entry.observer : -2 - entry.name)
            guard let before = last[way], before.posted > posted else {
                last[way] = (posted, handler)
                return nil
            }
            let isNested = isCaused(index.entry(before.delivered).post, by: entry.post)
            return (handler, before.delivered, isNested)
        }
        return inversions.grouped {
            [index.entry($0.handler).observer, index.entry($0.handler).name, $0.isNested ? 1 : 0]
        }.map { found in
            let (first, entry) = (found[0], index.entry(found[0].handler))
            return Finding(
                problem: "\(words.observer(entry.observer, name: entry.name)) received one thread's posts in another "
                    + "order: \(words.times(found.count)) a later post was handled before an earlier one"
                    + (first.isNested ? ", although a handler of the earlier one posted it." : "."),
                evidence: [words.posted(entry), first.before, first.handler],
                remedy: first.isNested
                    ? "A handler posted while its own notification was still being posted, so later observers on the "
                        + "posting thread received the new one first. Observe on a particular thread, which handles "
                        + "notifications in order, or post through a PostingQueue."
                    : "Redirect only once, with one observer and one thread, and post from one thread if the order "
                        + "matters. Two ThreadedNotificationCenters, or a queue, do not keep the order.",
                weight: found.count, name: entry.name)
        }
    }

    /// Deliveries that overtook others because of the observer's policy.
    var overtakenByPolicy: [Finding] {
        handlersOfPosts.filter { index.entry($0).overtakes }.grouped { index.entry($0).observer }.map { found in
            let (observer, name) = (index.entry(found[0]).observer, index.entry(found[0]).name)
            return Finding(
                severity: .note,
                problem: "\(observer >= 0 ? words.observer(observer) : "an observer") received "
                    + "\(counted(found.count, "notification")) ahead of others that were waiting.",
                evidence: [words.registered(observer), found[0]],
                remedy: "This is the effect of SameThreadPolicy.atOnce. With .ordered, notifications keep their order.",
                weight: found.count, name: name)
        }
    }

    /// The `deliver` records of handlers whose post is known.
    private var handlersOfPosts: [Int32] {
        index.spans.filter { !$0.isWait && index.entry($0.begin).post >= 0 }.map(\.begin)
    }

    /// True if a post was made in a handler of another post, directly or through at most 100 other handlers.
    private func isCaused(_ post: Int32, by earlier: Int32) -> Bool {
        let causes = sequence(first: post) { post in
            let cause = index.posts[Int(post)].cause
            let delivery = cause < 0 ? -1 : index.spans[Int(cause)].delivery
            return delivery < 0 ? nil : index.deliveries[Int(delivery)].post
        }
        return causes.prefix(101).dropFirst().contains(earlier)
    }
}
