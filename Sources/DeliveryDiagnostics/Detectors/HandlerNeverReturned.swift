internal import DeliveryRecording

extension Detector {
    /// Finds threads that are in a handler when the recording ends, and recorded nothing else for longer than a stall.
    static let handlerNeverReturned = Detector(
        "handlerNeverReturned", "a handler ran until the recording ended, and its thread recorded nothing else",
        limits: .stall
    ) { evidence in
        let (index, words, waiting) = (evidence.index, evidence.words, evidence.waiting)
        return evidence.running.keys.compactMap { thread -> Finding? in
            guard let (handler, time) = evidence.silence(of: thread) else { return nil }
            let (entry, last) = (index.entry(handler.begin), index.threads[Int(thread)].last)
            let count = waiting[thread]?.count ?? 0
            // If all threads were silent, the handler may have ended the program after long work.
            let isProblem =
                words.hasEndedProcess(thread) == false
                || index.threads.indices.contains { other in
                    let last = index.threads[other].last
                    return evidence.process(of: Int32(other)) == evidence.process(of: thread) && last >= 0
                        && evidence.timeToEnd(last) <= evidence.limits.stall.nanoseconds
                }
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "\(words.thread(thread)) is in \(words.handler(handler)) until the recording ends, and "
                    + "recorded nothing else for \(ElapsedTime.text(time))"
                    + (count > 0 ? "; \(counted(count, "notification")) wait\(count == 1 ? "s" : "") for it." : "."),
                evidence: [words.registered(entry.observer), handler.begin, last],
                remedy:
                    "Check what the handler waits for, such as a lock, a reply or input. Let it return, and continue "
                    + "when that is available.", weight: Int(clamping: time), name: entry.name, thread: thread)
        }
    }
}
