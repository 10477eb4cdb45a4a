internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds notifications for a thread that had ended, or that ended before it handled them (guarantee 10).
enum TargetGone {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        struct Whose: Hashable {
            var observer: Int32
            var name: Int32
            var target: Int32
        }
        var found: [Whose: (afterEnd: Int, waiting: Int, first: Int32)] = [:]
        for pair in index.pairs where pair.fate >= 0 && index.entry(pair.fate).stage == .targetGone {
            let target = index.target(of: pair)
            let end = target < 0 ? -1 : index.threadEnd[Int(target)]
            let begin = pair.append >= 0 ? pair.append : pair.fate
            // If the thread that posted also recorded `targetGone`, the post came too late. Otherwise the target thread
            // abandoned it when it ended.
            let isAfterEnd = end >= 0 ? begin > end : pair.append < 0 || isRefused(pair, index)
            let whose = Whose(observer: pair.observer, name: index.name(of: pair), target: target)
            var all = found[whose] ?? (0, 0, pair.fate)
            if isAfterEnd {
                if all.afterEnd == 0 { all.first = pair.fate }
                all.afterEnd += 1
            } else {
                all.waiting += 1
            }
            found[whose] = all
        }
        let words = DiagnosisWords(index)
        return found.map { whose, found in
            let thread = whose.target < 0 ? "the target thread" : words.thread(whose.target)
            let isBlock = whose.observer < 0 && whose.name < 0
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
                : "\(words.observer(whose.observer, name: whose.name)) did not receive "
            let end = whose.target < 0 ? -1 : index.threadEnd[Int(whose.target)]
            let registered = whose.observer < 0 ? -1 : index.registered[Int(whose.observer)]
            return Finding(
                kind: .targetGone, severity: found.afterEnd > 0 || isMain(whose.target, index) ? .problem : .note,
                problem: what + parts.joined(separator: ", and ") + ".",
                evidence: [registered, end, found.first].filter { $0 >= 0 },
                remedy: isMain(whose.target, index)
                    ? "The main thread ended before the program: its main function is async. Write a synchronous one "
                        + "that starts a Task and runs RunLoop.main.run()."
                    : found.afterEnd > 0
                        ? "Cancel the observer's token before its thread stops, or keep the thread. "
                            + "PostReport.targetGone tells the poster."
                        : "Wait until the thread has handled its notifications before you stop() it.",
                weight: found.afterEnd + found.waiting)
        }
    }

    private static func isMain(_ thread: Int32, _ index: DeliveryIndex) -> Bool {
        thread >= 0 && index.recording.threads[Int(thread)].identity.number == 1
    }

    /// True if the thread that handed it over also recorded `targetGone`.
    private static func isRefused(_ pair: DeliveryIndex.Pair, _ index: DeliveryIndex) -> Bool {
        index.entry(pair.fate).thread == index.entry(pair.append).thread
    }
}
