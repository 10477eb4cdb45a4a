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

    private enum Loss {
        case neverStarted, hadEnded, ended
    }

    /// What was for a thread that was never started, had ended, or ended before it handled it (guarantee 10): one
    /// finding for each observer, name, target and reason.
    var targetsGone: [Finding] {
        index.deliveries.filter { $0.outcome >= 0 && index.entry($0.outcome).stage == .targetGone }.grouped {
            [$0.observer, index.name(of: $0), index.target(of: $0), loss($0) == .ended ? 0 : 1]
        }.map { deliveries in
            let (first, loss, count) = (deliveries[0], loss(deliveries[0]), deliveries.count)
            let (target, name) = (index.target(of: first), index.name(of: first))
            let (thread, isMain) = (words.numberedThread(target), index.isMain(target))
            let reason: (what: String, remedy: String) =
                switch loss {
                case .neverStarted: ("was never started", "Call start() on the RunLoopThread before you use it.")
                case .hadEnded:
                    ("had ended", "Cancel the observer's token before its thread stops, or keep the thread.")
                case .ended:
                    (
                        "ended before it handled \(count == 1 ? "it" : "them")",
                        "Let the thread run its run loop until everything is handled, with RunLoop.current.run(), or "
                            + "use a RunLoopThread, which handles what was posted before stop()."
                    )
                }
            return Finding(
                severity: loss == .ended && !isMain ? .note : .problem,
                problem: "\(words.deliveries(count, first.observer, name: name)) \(count == 1 ? "was" : "were") lost, "
                    + "because \(thread) \(reason.what).",
                evidence: [
                    words.registered(first.observer), target < 0 ? -1 : index.threads[Int(target)].end, first.outcome,
                ], remedy: isMain ? "The main thread ended before the program. \(Self.asyncMain)" : reason.remedy,
                weight: count, name: name)
        }
    }

    /// If the thread that posted also recorded `targetGone`, the post came too late. Otherwise the target thread
    /// abandoned it when it ended.
    private func loss(_ delivery: RecordingIndex.Delivery) -> Loss {
        let (outcome, target) = (index.entry(delivery.outcome), index.target(of: delivery))
        if outcome.reason == .notStarted { return .neverStarted }
        let end = target < 0 ? -1 : index.threads[Int(target)].end
        let isLate =
            end >= 0
            ? delivery.first > end : delivery.append < 0 || outcome.thread == index.entry(delivery.first).thread
        return isLate ? .hadEnded : .ended
    }

    // MARK: Order

    /// Notifications of one poster that reached one observer in a different order than posted (guarantee 4), and those
    /// that its policy let overtake others.
    var overtaken: [Finding] {
        /// For each observer and posting thread, the last post delivered: its `post` and `deliver` entries.
        var last: [SIMD2<Int32>: (posted: Int32, delivered: Int32)] = [:]
        var found: [(handler: Int32, before: Int32)] = []
        for handler in index.spans.lazy.filter({ !$0.isWait }).map(\.begin) {
            let entry = index.entry(handler)
            let posted = words.posted(entry)
            if entry.overtakes {
                found.append((handler, -1))
            } else if posted >= 0 {
                // If observers cannot be told apart, there is one per name.
                let way: SIMD2 = [index.entry(posted).thread, entry.observer >= 0 ? entry.observer : -2 - entry.name]
                if let before = last[way], before.posted > posted {
                    found.append((handler, before.delivered))
                } else {
                    last[way] = (posted, handler)
                }
            }
        }
        return found.grouped { found in
            [index.entry(found.handler).observer, index.entry(found.handler).name, found.before < 0 ? 0 : 1]
        }.map { found in
            let (entry, isByPolicy) = (index.entry(found[0].handler), found[0].before < 0)
            return Finding(
                severity: isByPolicy ? .note : .problem,
                problem: "\(words.observer(entry.observer, name: entry.name)) received "
                    + (isByPolicy
                        ? "\(counted(found.count, "notification")) ahead of others that were waiting."
                        : "one thread's posts in another order: \(words.times(found.count)) a later post was handled "
                            + "before an earlier one."),
                evidence: [
                    isByPolicy ? words.registered(entry.observer) : words.posted(entry), found[0].before,
                    found[0].handler,
                ],
                remedy: isByPolicy
                    ? "This is the effect of SameThreadPolicy.atOnce. With .ordered, notifications keep their order."
                    : "Observe on a particular thread, with one observer of one ThreadedNotificationCenter, which keeps "
                        + "the order of each poster. What a handler posts on the posting thread may come first there: "
                        + "post that through a PostingQueue.", weight: found.count, name: entry.name)
        }
    }
}
