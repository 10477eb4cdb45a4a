internal import DeliveryRecording

extension Detector {
    private struct Key: Hashable {
        var observer: Int32
        var name: Int32
        var target: Int32
        var wasStarted: Bool
    }

    /// Finds notifications and blocks for a thread that was never started, that had ended, or that ended before it handled
    /// them (guarantee 10).
    static let targetGone = Detector(
        "targetGone", "notifications or blocks were for a thread that had ended or was never started",
        formerly: ["neverStarted"]
    ) { evidence in
        let words = evidence.words
        let index = words.index
        var found: [Key: (afterEnd: Int, waiting: Int, first: Int32)] = [:]
        for delivery in index.deliveries where delivery.outcome >= 0 {
            let outcome = index.entry(delivery.outcome)
            guard outcome.stage == .targetGone else { continue }
            let target = index.target(of: delivery)
            let end = target < 0 ? -1 : index.threads[Int(target)].end
            let begin = delivery.first
            // If the thread that posted also recorded `targetGone`, the post came too late. Otherwise the target thread
            // abandoned it when it ended.
            let isAfterEnd = end >= 0 ? begin > end : delivery.append < 0 || outcome.thread == index.entry(begin).thread
            let key = Key(
                observer: delivery.observer, name: index.name(of: delivery), target: target,
                wasStarted: outcome.reason != .notStarted)
            var all = found[key] ?? (0, 0, delivery.outcome)
            if isAfterEnd, all.afterEnd == 0 { all.first = delivery.outcome }
            if isAfterEnd { all.afterEnd += 1 } else { all.waiting += 1 }
            found[key] = all
        }
        /// The threads that handled what waited for them at least once.
        var served: Set<Int32> = []
        for number in index.records(of: .drain) { served.insert(index.entry(number).thread) }
        for span in index.spans where span.delivery >= 0 && index.deliveries[Int(span.delivery)].append >= 0 {
            served.insert(span.thread)
        }
        return found.map { finding($0, $1.afterEnd, $1.waiting, $1.first, served.contains($0.target), words) }
    }

    private static func finding(
        _ key: Key, _ afterEnd: Int, _ waiting: Int, _ first: Int32, _ wasServed: Bool, _ words: RecordWords
    ) -> Finding {
        let (isMain, isBlock) = (words.index.isMain(key.target), key.observer < 0 && key.name < 0)
        let thread = key.target < 0 ? "the target thread" : words.thread(key.target)
        // Its own thread added it, such as with .current, and may not run its run loop.
        let deliveredNothing =
            key.target >= 0 && !wasServed && words.index.registration(of: key.observer)?.thread == key.target
        let (all, noun) = (afterEnd + waiting, isBlock ? "block" : "notification")
        let parts = [
            (afterEnd, "\(isBlock ? "handed over" : "posted") after \(thread) had ended"),
            (waiting, "still waiting when \(thread) ended"),
        ].filter { $0.0 > 0 }.map { "\(counted($0, noun)) \($1)" }.joined(separator: ", and ")
        let subject =
            isBlock
            ? "Some blocks were never performed:" : "\(words.observer(key.observer, name: key.name)) did not receive"
        let (problem, remedy) =
            !key.wasStarted
            ? (
                "\(counted(all, noun)) \(all == 1 ? "was" : "were") not accepted because \(thread) was never started",
                "Call start() on the RunLoopThread before you use it as a target"
                    + (key.target < 0 ? "." : ": \(words.numberedThread(key.target)).")
            )
            : (
                "\(subject) \(parts)" + (deliveredNothing ? ", which delivered nothing that waited for it" : ""),
                isMain
                    ? "The main thread ended before the program. \(asyncMain)"
                    : deliveredNothing
                        ? "After \(words.numberedThread(key.target)) added the observer, it must run its run loop, "
                            + "with RunLoop.current.run(), until everything is handled; or use a RunLoopThread."
                        : afterEnd > 0
                            ? isBlock
                                ? "Perform blocks before their thread stops, or keep the thread: perform(_:) throws "
                                    + "if it has ended."
                                : "Cancel the observer's token before its thread stops, or keep the thread. "
                                    + "DeliveryCounters.targetGone tells the poster."
                            : "Let \(words.numberedThread(key.target)) handle what waits before it ends: wait "
                                + "for that with \(isBlock ? "performAndWait" : "postAndWait(_:timeout:)") before the thread is told to end. A "
                                + "RunLoopThread handles what was posted before stop()."
            )
        return Finding(
            severity: !key.wasStarted || afterEnd > 0 || isMain ? .problem : .note, problem: problem + ".",
            evidence: [
                words.registered(key.observer), key.target < 0 ? -1 : words.index.threads[Int(key.target)].end, first,
            ], remedy: remedy, weight: all, name: key.name, formerKind: key.wasStarted ? nil : "neverStarted")
    }
}
