internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds notifications for a thread that had ended, or that ended before it handled them (guarantee 10).
enum TargetGone {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        struct Key: Hashable {
            var observer: Int32
            var name: Int32
            var target: Int32
        }
        var found: [Key: (afterEnd: Int, waiting: Int, first: Int32)] = [:]
        for pair in index.pairs where pair.outcome >= 0 && index.entry(pair.outcome).stage == .targetGone {
            let target = index.target(of: pair)
            let end = target < 0 ? -1 : index.threadEnd[Int(target)]
            let begin = pair.append >= 0 ? pair.append : pair.outcome
            // If the thread that posted also recorded `targetGone`, the post came too late. Otherwise the target thread
            // abandoned it when it ended.
            let isAfterEnd = end >= 0 ? begin > end : pair.append < 0 || isRefused(pair, index)
            let key = Key(observer: pair.observer, name: index.name(of: pair), target: target)
            var all = found[key] ?? (0, 0, pair.outcome)
            if isAfterEnd {
                if all.afterEnd == 0 { all.first = pair.outcome }
                all.afterEnd += 1
            } else {
                all.waiting += 1
            }
            found[key] = all
        }
        let words = DiagnosisWords(index)
        return found.map { key, found in
            let thread = key.target < 0 ? "the target thread" : words.thread(key.target)
            let isBlock = key.observer < 0 && key.name < 0
            let noun = isBlock ? "block" : "notification"
            var parts: [String] = []
            if found.afterEnd > 0 {
                parts.append(
                    "\(words.count(found.afterEnd, noun)) \(isBlock ? "handed over" : "posted") after \(thread) "
                        + "had ended"
                )
            }
            if found.waiting > 0 {
                parts.append("\(words.count(found.waiting, noun)) still waiting when \(thread) ended")
            }
            let what =
                isBlock
                ? "Some blocks were never performed: "
                : "\(words.observer(key.observer, name: key.name)) did not receive "
            let end = key.target < 0 ? -1 : index.threadEnd[Int(key.target)]
            let registered = key.observer < 0 ? -1 : index.registered[Int(key.observer)]
            return Finding(
                kind: .targetGone, severity: found.afterEnd > 0 || isMain(key.target, index) ? .problem : .note,
                problem: what + parts.joined(separator: ", and ") + ".",
                evidence: [registered, end, found.first].filter { $0 >= 0 },
                remedy: isMain(key.target, index)
                    ? "The main thread ended before the program: its main function is async. Write a synchronous one "
                        + "that starts a Task and runs RunLoop.main.run()."
                    : found.afterEnd > 0
                        ? "Cancel the observer's token before its thread stops, or keep the thread. "
                            + "DeliveryCounters.targetGone tells the poster."
                        : "Wait until the thread has handled its notifications before you stop() it.",
                weight: found.afterEnd + found.waiting)
        }
    }

    private static func isMain(_ thread: Int32, _ index: DeliveryIndex) -> Bool {
        thread >= 0 && index.recording.threads[Int(thread)].identity.number == 1
    }

    /// True if the thread that handed it over also recorded `targetGone`.
    private static func isRefused(_ pair: DeliveryIndex.Pair, _ index: DeliveryIndex) -> Bool {
        index.entry(pair.outcome).thread == index.entry(pair.append).thread
    }
}
