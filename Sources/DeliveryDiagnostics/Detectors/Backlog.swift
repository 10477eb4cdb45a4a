internal import DeliveryRecording

extension Detector {
    private struct Key: Hashable {
        var process: Int
        var observer: Int32
        var name: Int32
        var target: Int32
    }

    /// Finds notifications and blocks that wait when the recording ends.
    ///
    /// A problem if the process exited, because nothing will handle them; otherwise a note.
    static let backlog = Detector("backlog", "notifications or blocks still wait when the recording ends") { evidence in
        let words = evidence.words
        let index = words.index
        var found: [Key: (waiting: Int, all: Int, first: Int32)] = [:]
        for delivery in index.deliveries where delivery.append >= 0 && delivery.kind != .redirected {
            let key = Key(
                process: index.process(ofPost: delivery.post), observer: delivery.observer,
                name: words.observedName(index.entry(delivery.append)), target: index.target(of: delivery))
            // What waited for a thread that has ended is a fault or has an outcome.
            guard key.target < 0 || index.threads[Int(key.target)].end < 0 else { continue }
            found[key, default: (0, 0, -1)].all += 1
            guard delivery.isPending else { continue }
            found[key]?.waiting += 1
            if found[key]?.first ?? -1 < 0 { found[key]?.first = delivery.append }
        }
        let running = evidence.running
        return found.filter { $0.value.waiting > 0 }.map { key, found in
            let (first, handler) = (found.first, running[key.target])
            let isBlock = key.observer < 0 && key.name < 0
            // An async handler may be running.
            let isProblem = key.target >= 0 && words.hasExited(key.process)
            let source = words.posted(index.entry(first)) >= 0 ? words.posted(index.entry(first)) : first
            let since = index.time(from: first, to: index.processes[key.process].last)
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "When the recording ends, \(found.waiting) of "
                    + "\(counted(found.all, isBlock ? "block" : "notification"))"
                    + (isBlock ? "" : " for \(words.observer(key.observer, name: key.name))")
                    + (key.target >= 0
                        ? " wait\(found.waiting == 1 ? "s" : "") for \(words.thread(key.target))"
                        : " \(found.waiting == 1 ? "is" : "are") not handled")
                    + (handler.map { ", which is in \(words.handler($0))" } ?? "")
                    + ", the first since \(ElapsedTime.text(since)), \(isBlock ? "enqueued" : "posted") by "
                    + "\(words.thread(index.entry(source).thread))\(words.location(of: source, " at ")).",
                evidence: [words.registered(key.observer), source, first, handler?.begin ?? -1],
                remedy: isProblem
                    ? "\(found.waiting == 1 ? "It is" : "They are") lost. "
                        + "Before the program ends, wait for what was posted: postAndWait(_:timeout:)."
                    : "If the program ended with that, they are lost: before it ends, wait for what was posted, with "
                        + "postAndWait(_:timeout:).", weight: found.waiting, name: key.name, thread: key.target)
        }
    }
}
