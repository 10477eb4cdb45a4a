internal import DeliveryRecording

extension Detector {
    /// Finds the handlers that ran when a signal ended the process: the innermost one of each thread.
    static let endedInHandler = Detector("endedInHandler", "a signal ended the process while a handler ran") {
        evidence in
        evidence.index.processes.enumerated().flatMap { number, process -> [Finding] in
            guard process.end >= 0, case .signal(let signal)? = evidence.index.entry(process.end).reason else {
                return []
            }
            return evidence.running(number, signal, process.end)
        }
    }

    /// By these signals a process ends because of what it did itself. Others are sent to ask it to end.
    fileprivate static let crashes: Set<UInt8> = [4, 5, 6, 7, 8, 11, 31]

    fileprivate static func remedy(_ signal: UInt8, isCandidate: Bool = false) -> String {
        let start =
            isCandidate ? "A core dump names the thread. If it was in a handler," : "Start with that handler, and"
        return switch signal {
        case 4, 5:
            "Swift ends a process by this signal when a check fails, such as a precondition, a forced unwrapping or an "
                + "index out of range. Its message on standard error names the line: start with that."
        case 6: "The process ended itself. Its message on standard error says why: start with that."
        case 7, 11:
            "\(start) check whether it uses something that was released. Call cancelAndWait() before you release it."
        case 8: "\(start) check its divisions."
        default: "The process was asked to end. If it was hanging, check what that handler waits for."
        }
    }
}

extension Evidence {
    /// If the thread that ended the process is not known, each thread in a handler is a candidate.
    fileprivate func running(_ process: Int, _ signal: UInt8, _ end: Int32) -> [Finding] {
        let running = running.filter { self.process(of: $0.key) == process }.sorted { $0.key < $1.key }
        let isCrash = Detector.crashes.contains(signal)
        guard index.entry(end).isThreadKnown || running.isEmpty || !isCrash else {
            let others = recording.threads.indices.contains { thread in
                self.process(of: Int32(thread)) == process && index.threads[thread].end < 0
                    && !running.contains { Int($0.key) == thread }
            }
            let (were, each) =
                running.count == 1
                ? ("1 thread was in a handler", "that thread is a candidate")
                : ("\(running.count) threads were in handlers", "each of them is a candidate")
            return [
                Finding(
                    severity: others ? .note : .problem,
                    problem: "The process ended by signal \(signal) while \(were). The recording does not say which "
                        + "thread ended it: \(each).", evidence: running.map(\.value.begin) + [end],
                    details: running.map { thread, span in
                        let added = words.location(
                            of: words.registered(index.observer(of: span)), ", added at ")
                        return "candidate: \(words.thread(thread)) in \(words.handler(span))\(added)"
                    }, remedy: Detector.remedy(signal, isCandidate: true), weight: 2,
                    name: index.entry(running[0].value.begin).name)
            ]
        }
        return running.map { thread, span in
            let isEndedHere = index.entry(end).isThreadKnown && index.entry(end).thread == thread
            return Finding(
                severity: isCrash && isEndedHere ? .problem : .note,
                problem: "The process ended by signal \(signal) while \(words.thread(thread)) was in "
                    + "\(words.handler(span)).",
                evidence: [words.registered(index.observer(of: span)), span.begin, end],
                remedy: Detector.remedy(signal), weight: isEndedHere ? 2 : 1, name: index.entry(span.begin).name)
        }
    }
}
