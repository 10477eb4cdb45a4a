internal import DeliveryRecording

extension Detector {
    /// The handler that a thread is in, and the time since its last record; nil if it is in none, or not for long.
    static func silence(of thread: Int32, _ evidence: Evidence) -> (handler: RecordingIndex.Span, time: UInt64)? {
        let (index, words) = (evidence.index, evidence.words)
        let last = index.threads[Int(thread)].last
        let end = index.processes[Int(index.recording.threads[Int(thread)].process)].last
        // The handler is not stuck if the program ended in it, or if its thread recorded something later.
        guard let handler = evidence.running[thread], last >= 0, end >= 0, index.threads[Int(thread)].end < 0,
            words.hasEndedProcess(thread) != true, case let time = index.time(from: last, to: end),
            time > evidence.limits.stall.nanoseconds
        else { return nil }
        return (handler, time)
    }

    /// Finds threads that are in a handler when the recording ends, and recorded nothing else for longer than a stall.
    static let handlerNeverReturned = Detector(
        "handlerNeverReturned", "a handler ran until the recording ended, and its thread recorded nothing else",
        limits: .stall
    ) { evidence in
        let (index, words, recording) = (evidence.index, evidence.words, evidence.index.recording)
        return evidence.running.keys.compactMap { thread -> Finding? in
            guard let (handler, time) = silence(of: thread, evidence) else { return nil }
            let process = recording.threads[Int(thread)].process
            let entry = index.entry(handler.begin)
            let waiting = index.deliveries.count { delivery in
                delivery.kind != .redirected && delivery.isPending && delivery.append >= 0
                    && index.target(of: delivery) == thread
            }
            // If all threads were silent, the handler may have ended the program after long work.
            let isProblem =
                words.hasEndedProcess(thread) == false
                || recording.threads.indices.contains {
                    recording.threads[$0].process == process && index.threads[$0].last >= 0
                        && index.time(from: index.threads[$0].last, to: index.processes[Int(process)].last)
                            <= evidence.limits.stall.nanoseconds
                }
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "\(words.thread(thread)) is in \(words.handler(handler)) until the recording ends, and "
                    + "recorded nothing else for \(ElapsedTime.text(time))"
                    + (waiting > 0
                        ? "; \(counted(waiting, "notification")) wait\(waiting == 1 ? "s" : "") for it." : "."),
                evidence: [words.registered(entry.observer), handler.begin, index.threads[Int(thread)].last],
                remedy:
                    "Check what the handler waits for, such as a lock, a reply or input. Let it return, and continue "
                    + "when that is available.", weight: Int(clamping: time), name: entry.name, thread: thread)
        }
    }
}
