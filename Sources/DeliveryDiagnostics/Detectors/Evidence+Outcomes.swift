internal import DeliveryRecording
internal import TerminalText

/// What became of notifications and blocks, other than that they were delivered in order.
extension Evidence {
    /// Notifications that an observer's overflow policy dropped (guarantee 12).
    var dropped: [Finding] {
        zip(Int32(0)..., matches).filter { $1.counts[.dropped] > 0 }.map { observer, matches in
            let count = matches.counts[.dropped]
            let policy = recording.details(of: index.entry(matches.firstDrop)).map { " (\(Excerpt.of($0)))" } ?? ""
            return Finding(
                severity: .note,
                problem: "The overflow policy\(policy) of \(words.observer(observer)) dropped \(count) of "
                    + "\(counted(matches.counts[.matched], "notification")).",
                evidence: [words.registered(observer), matches.firstDrop],
                remedy: "If every notification matters, use a larger capacity or a faster handler, or post less.",
                weight: count)
        }
    }

    /// What was for a thread that was never started, had ended, or ended before it handled it (guarantee 10).
    var targetsGone: [Finding] {
        index.deliveries.filter { $0.outcome >= 0 && index.entry($0.outcome).stage == .targetGone }.grouped {
            [$0.observer, index.name(of: $0), index.target(of: $0), wasAbandoned($0) ? 1 : 0]
        }.map { deliveries in
            let (first, count) = (deliveries[0], deliveries.count)
            let (target, wasAbandoned) = (index.target(of: first), wasAbandoned(first))
            let reason =
                wasAbandoned
                ? "ended before it handled \(count == 1 ? "it" : "them")"
                : index.entry(first.outcome).reason == .notStarted ? "was never started" : "had ended"
            return Finding(
                severity: wasAbandoned && !index.isMain(target) ? .note : .problem,
                problem: "\(words.deliveries(count, first.observer, name: index.name(of: first))) "
                    + "\(count == 1 ? "was" : "were") lost, because \(words.numberedThread(target)) \(reason).",
                evidence: [
                    words.registered(first.observer), target < 0 ? -1 : index.threads[Int(target)].end, first.outcome,
                ],
                remedy: index.isMain(target)
                    ? "The main thread ended before the program. \(Self.asyncMain)"
                    : "Start the thread before you use it, and let it run its run loop until everything is handled.",
                weight: count)
        }
    }

    /// True if the target thread abandoned the delivery when it ended. Otherwise the post came too late, and its own
    /// thread recorded the outcome.
    private func wasAbandoned(_ delivery: RecordingIndex.Delivery) -> Bool {
        let (outcome, target) = (index.entry(delivery.outcome), index.target(of: delivery))
        return outcome.reason != .notStarted && delivery.append >= 0
            && (outcome.thread != index.entry(delivery.append).thread
                || target >= 0 && delivery.append < index.threads[Int(target)].end)
    }

    /// Notifications of one poster that reached one observer in a different order than posted (guarantee 4). An
    /// observer with `SameThreadPolicy.atOnce` asks for that.
    var overtaken: [Finding] {
        /// For each observer and posting thread, the last post delivered: its `post` and `deliver` entries.
        var last: [SIMD2<Int32>: (posted: Int32, delivered: Int32)] = [:]
        var found: [(handler: Int32, before: Int32)] = []
        for handler in index.spans.lazy.filter({ !$0.isWait }).map(\.begin) {
            let entry = index.entry(handler)
            let posted = words.posted(entry)
            guard posted >= 0, !entry.overtakes else { continue }
            // If observers cannot be told apart, there is one per name.
            let way: SIMD2 = [index.entry(posted).thread, entry.observer >= 0 ? entry.observer : -2 - entry.name]
            if let before = last[way], before.posted > posted {
                found.append((handler, before.delivered))
            } else {
                last[way] = (posted, handler)
            }
        }
        return found.grouped { [index.entry($0.handler).observer, index.entry($0.handler).name] }.map { found in
            let entry = index.entry(found[0].handler)
            return Finding(
                problem: "\(words.observer(entry.observer, name: entry.name)) received one thread's posts in another "
                    + "order: \(words.times(found.count)) a later post was handled before an earlier one.",
                evidence: [words.posted(entry), found[0].before, found[0].handler],
                remedy:
                    "Observe on a particular thread: a ThreadedNotificationCenter then keeps the order of each poster.",
                weight: found.count)
        }
    }
}
