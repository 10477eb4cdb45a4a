internal import DeliveryRecording

/// Finds notifications and blocks for a thread that was never started, that had ended, or that ended before it handled
/// them (guarantee 10).
enum TargetGone {
    private struct Key: Hashable {
        var observer: Int32
        var name: Int32
        var target: Int32
        var wasStarted: Bool

        var noun: String { observer < 0 && name < 0 ? "block" : "notification" }
    }

    static func findings(_ words: RecordWords) -> [Finding] {
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
        return found.map { key, found in
            let thread = key.target < 0 ? "the target thread" : words.thread(key.target)
            return key.wasStarted
                ? ended(key, thread, found.afterEnd, found.waiting, found.first, words)
                : neverStarted(key, thread, found.afterEnd + found.waiting, found.first, words)
        }
    }

    private static func neverStarted(
        _ key: Key, _ thread: String, _ count: Int, _ first: Int32, _ words: RecordWords
    ) -> Finding {
        Finding(
            kind: .neverStarted, severity: .problem,
            problem: "\(counted(count, key.noun)) \(count == 1 ? "was" : "were") not accepted because \(thread) was "
                + "never started.",
            evidence: [words.registered(key.observer), first],
            remedy: "Call start() on the RunLoopThread before you use it as a target.", weight: count, name: key.name)
    }

    private static func ended(
        _ key: Key, _ thread: String, _ afterEnd: Int, _ waiting: Int, _ first: Int32, _ words: RecordWords
    ) -> Finding {
        let (isMain, isBlock) = (words.index.isMain(key.target), key.noun == "block")
        let verb = isBlock ? "handed over" : "posted"
        let parts = [
            afterEnd > 0 ? "\(counted(afterEnd, key.noun)) \(verb) after \(thread) had ended" : nil,
            waiting > 0 ? "\(counted(waiting, key.noun)) still waiting when \(thread) ended" : nil,
        ].compactMap(\.self).joined(separator: ", and ")
        let subject =
            isBlock
            ? "Some blocks were never performed:" : "\(words.observer(key.observer, name: key.name)) did not receive"
        return Finding(
            kind: .targetGone, severity: afterEnd > 0 || isMain ? .problem : .note, problem: "\(subject) \(parts).",
            evidence: [
                words.registered(key.observer), key.target < 0 ? -1 : words.index.threads[Int(key.target)].end, first,
            ],
            remedy: isMain
                ? "The main thread ended before the program. \(Stall.asyncMain)"
                : afterEnd > 0
                    ? "Cancel the observer's token before its thread stops, or keep the thread. "
                        + "DeliveryCounters.targetGone tells the poster."
                    : "Wait until the thread has handled its notifications before you stop() it.",
            weight: afterEnd + waiting, name: key.name)
    }
}
