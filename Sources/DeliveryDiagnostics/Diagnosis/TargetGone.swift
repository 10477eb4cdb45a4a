internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds notifications and blocks for a thread that was never started, that had ended, or that ended before it handled
/// them (guarantee 10).
enum TargetGone {
    private struct Key: Hashable {
        var observer: Int32
        var name: Int32
        var target: Int32
        var wasStarted: Bool
    }

    static func findings(_ index: RecordingIndex) -> [Finding] {
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
            if isAfterEnd {
                if all.afterEnd == 0 { all.first = delivery.outcome }
                all.afterEnd += 1
            } else {
                all.waiting += 1
            }
            found[key] = all
        }
        let words = RecordWords(index)
        return found.map { key, found in
            key.wasStarted
                ? ended(key, found.afterEnd, found.waiting, found.first, words)
                : neverStarted(key, found.afterEnd + found.waiting, found.first, words)
        }
    }

    private static func thread(_ key: Key, _ words: RecordWords) -> String {
        key.target < 0 ? "the target thread" : words.thread(key.target)
    }

    private static func noun(_ key: Key) -> String { key.observer < 0 && key.name < 0 ? "block" : "notification" }

    private static func neverStarted(_ key: Key, _ count: Int, _ first: Int32, _ words: RecordWords) -> Finding {
        Finding(
            kind: .neverStarted, severity: .problem,
            problem: "\(counted(count, noun(key))) \(count == 1 ? "was" : "were") not accepted because "
                + "\(thread(key, words)) was never started.",
            evidence: [words.registered(key.observer), first],
            remedy: "Call start() on the RunLoopThread before you use it as a target.", weight: count, name: key.name)
    }

    private static func ended(
        _ key: Key, _ afterEnd: Int, _ waiting: Int, _ first: Int32, _ words: RecordWords
    ) -> Finding {
        let (thread, isMain) = (thread(key, words), Stall.isMain(key.target, words.index))
        let verb = noun(key) == "block" ? "handed over" : "posted"
        let parts = [
            afterEnd > 0 ? "\(counted(afterEnd, noun(key))) \(verb) after \(thread) had ended" : nil,
            waiting > 0 ? "\(counted(waiting, noun(key))) still waiting when \(thread) ended" : nil,
        ].compactMap(\.self).joined(separator: ", and ")
        let what =
            noun(key) == "block"
            ? "Some blocks were never performed: " : "\(words.observer(key.observer, name: key.name)) did not receive "
        return Finding(
            kind: .targetGone, severity: afterEnd > 0 || isMain ? .problem : .note, problem: "\(what)\(parts).",
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
