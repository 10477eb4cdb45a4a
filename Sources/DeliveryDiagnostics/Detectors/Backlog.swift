internal import DeliveryRecording

extension Detector {
    /// Finds notifications and blocks that wait when the recording ends.
    ///
    /// A problem if the process exited, because nothing will handle them; otherwise a note.
    static let backlog = Detector("backlog", "notifications or blocks still wait when the recording ends") { evidence in
        let (index, words) = (evidence.index, evidence.words)
        guard index.deliveries.contains(where: \.isPending) else { return [] }
        let appended = index.deliveries.filter { delivery in
            // What waited for a thread that has ended is a fault or has an outcome.
            let target = index.target(of: delivery)
            return delivery.append >= 0
                && (target < 0 || index.threads[Int(target)].end < 0)
        }
        return appended.grouped { delivery in
            [
                Int32(index.process(ofPost: delivery.post)), delivery.observer,
                words.observedName(index.entry(delivery.append)), index.target(of: delivery),
            ]
        }.compactMap { deliveries -> Finding? in
            let waiting = deliveries.filter(\.isPending)
            guard let first = waiting.first?.append else { return nil }
            let (entry, target) = (index.entry(first), index.target(of: waiting[0]))
            let name = words.observedName(entry)
            let handler = evidence.running[target]
            let (isBlock, isOne) = (entry.observer < 0 && name < 0, waiting.count == 1)
            // An async handler may be running.
            let isProblem = target >= 0 && words.hasExited(evidence.recording.process(of: entry))
            let source = words.posted(entry) >= 0 ? words.posted(entry) : first
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "When the recording ends, \(waiting.count) of "
                    + counted(deliveries.count, isBlock ? "block" : "notification")
                    + (isBlock ? "" : " for \(words.observer(entry.observer, name: name))")
                    + (target >= 0
                        ? " wait\(isOne ? "s" : "") for \(words.thread(target))"
                        : " \(isOne ? "is" : "are") not handled")
                    + (handler.map { ", which is in \(words.handler($0))" } ?? "")
                    + ", the first since \(ElapsedTime.text(evidence.timeToEnd(first))), "
                    + "\(isBlock ? "enqueued" : "posted") by "
                    + "\(words.thread(index.entry(source).thread))\(words.location(of: source, " at ")).",
                evidence: [words.registered(entry.observer), source, first, handler?.begin ?? -1],
                remedy: isProblem
                    ? "\(isOne ? "It is" : "They are") lost. "
                        + "Before the program ends, wait for what was posted: postAndWait(_:timeout:)."
                    : "If the program ended with that, they are lost: before it ends, wait for what was posted, with "
                        + "postAndWait(_:timeout:).", weight: waiting.count, name: name, thread: target)
        }
    }

}
