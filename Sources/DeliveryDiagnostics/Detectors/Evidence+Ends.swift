internal import DeliveryRecording
internal import TerminalText

/// How the processes and their recordings ended.
extension Evidence {
    /// The processes that ended by a signal, and their threads.
    private var signals: [(process: Int, signal: UInt8, end: Int32, threads: [Int32])] {
        let threads = Dictionary(grouping: recording.threads.indices.map(Int32.init), by: process)
        return index.processes.enumerated().compactMap { number, process in
            guard process.end >= 0, case .signal(let signal)? = index.entry(process.end).reason else { return nil }
            return (number, signal, process.end, threads[number] ?? [])
        }
    }

    /// The handlers that ran when a signal ended the process: the innermost one of each thread. If the thread that ended
    /// the process is not known, each is a candidate.
    var endedInHandlers: [Finding] {
        signals.flatMap { _, signal, end, threads -> [Finding] in
            let running = threads.compactMap { thread in self.running[thread].map { (thread, $0) } }
            // By these signals a process ends because of what it did itself. Others are sent to ask it to end.
            let isCrash = [4, 5, 6, 7, 8, 11, 31].contains(signal)
            if isCrash, !index.entry(end).isThreadKnown, let first = running.first?.1 {
                let others = threads.contains { index.threads[Int($0)].end < 0 && self.running[$0] == nil }
                let (isOne, shown) = (running.count == 1, running.prefix(8))
                let rest = running.count - shown.count
                return [
                    Finding(
                        severity: others ? .note : .problem,
                        problem: "The process ended by signal \(signal) while \(counted(running.count, "thread")) "
                            + (isOne ? "was in a handler" : "were in handlers") + ". The recording does not say which "
                            + "thread ended it: \(isOne ? "that thread" : "each of them") is a candidate.",
                        evidence: running.map(\.1.begin) + [end],
                        details: shown.map { thread, span in
                            "candidate: \(words.thread(thread)) in \(words.handler(span))"
                                + added(index.observer(of: span))
                        } + (rest > 0 ? ["and \(counted(rest, "other"))"] : []),
                        remedy: Self.remedy(signal, isCandidate: true), weight: 2,
                        name: index.entry(first.begin).name)
                ]
            }
            return running.map { thread, span in
                let isEndedHere = index.entry(end).isThreadKnown && index.entry(end).thread == thread
                return Finding(
                    severity: isCrash && isEndedHere ? .problem : .note,
                    problem: "The process ended by signal \(signal) while \(words.thread(thread)) was in "
                        + "\(words.handler(span)).",
                    evidence: [words.registered(index.observer(of: span)), span.begin, end],
                    remedy: Self.remedy(signal), weight: isEndedHere ? 2 : 1, name: index.entry(span.begin).name)
            }
        }
    }

    private static func remedy(_ signal: UInt8, isCandidate: Bool = false) -> String {
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

    /// Observers of any name of a Foundation center that end the process: on Linux, the post of an `AsyncMessage` to a
    /// center that has such an observer is a fatal error.
    ///
    /// The recording does not say which posts are messages. It is a finding if the process ended by a signal in the post.
    var anyNameObservers: [Finding] {
        // Swift ends a process by these signals.
        signals.filter { [4, 5].contains($0.signal) }.compactMap { process, signal, end, threads -> Finding? in
            let last = index.entry(end)
            let candidates = last.isThreadKnown ? [last.thread] : threads
            guard let posted = candidates.lazy.compactMap(postAtEnd).first else { return nil }
            let (name, center) = (words.name(index.entry(posted).name), center(of: posted))
            let observer = index.observers.indices.map(Int32.init).first { observer in
                let (added, removed) = (words.registered(observer), words.removed(observer))
                guard added >= 0, added < posted, removed < 0 || removed > posted else { return false }
                let registration = index.entry(added)
                return registration.isFoundation && registration.name < 0
                    && recording.process(of: registration) == process && self.center(of: added) == center
            }
            guard let observer else { return nil }
            return Finding(
                problem:
                    "The process ended by signal \(signal) while \(words.thread(index.entry(posted).thread)) posted "
                    + "\(name) to a center that has an observer of any name, \(recording.describeObserver(observer)).",
                evidence: [words.registered(observer), posted, end],
                remedy:
                    "If \(name) is an AsyncMessage, give the observer a name: on Linux, the post of an AsyncMessage "
                    + "to a center that has an observer of any name is a fatal error.", name: index.entry(posted).name)
        }
    }

    private func center(of number: Int32) -> String? { recording.foundationDetails(of: index.entry(number))?.center }

    /// The post to a Foundation center that a thread was making with its last record, not in a handler of its own, or
    /// in that of an observer of any name.
    private func postAtEnd(of thread: Int32) -> Int32? {
        let last = index.threads[Int(thread)].last
        guard last >= 0, case let entry = index.entry(last), entry.isFoundation, words.posted(entry) >= 0,
            index.posts[Int(entry.post)].returned < 0
        else { return nil }
        let isOfAnyName = index.registration(of: entry.observer)?.name ?? 0 < 0
        return entry.stage == .post || entry.stage == .return || entry.stage == .deliver && isOfAnyName
            ? words.posted(entry) : nil
    }

    // MARK: Missing records

    var lostRecords: [Finding] {
        guard let first = index.records(of: .lost).first else { return [] }
        let count = index.records(of: .lost).reduce(0) { $0 + max(1, Int(index.entry($1).count)) }
        return [
            Finding(
                severity: .note, problem: "\(counted(count, "record")) \(count == 1 ? "was" : "were") lost.",
                evidence: [first],
                remedy: "The findings are based on the others. Record to a faster disk, or record less at a time.",
                weight: count)
        ]
    }

    var damagedLines: [Finding] {
        // A truncated last line is already covered by the finding that the recording is truncated.
        let (count, first) = (recording.problemCount, recording.problems.first)
        guard count > (first?.kind == .truncatedLine ? 1 : 0) else { return [] }
        return [
            Finding(
                severity: .note,
                problem: "The file is damaged at \(counted(count, "place"))\(first.map { ", the first: \($0)" } ?? "")",
                remedy: "The findings are based on the rest. Check whether the program itself writes to the file.",
                weight: count)
        ]
    }

    var truncated: [Finding] {
        if recording.entries.isEmpty, !recording.processes.isEmpty {
            return [
                Finding(
                    severity: .note, problem: "The recording has no records.",
                    remedy: "Check whether the program was killed before it used a center.")
            ]
        }
        return index.processes.enumerated().compactMap { number, process -> Finding? in
            let isWithoutNotice = recording.completeness[number] == .endedWithoutNotice
            guard recording.completeness[number] != .complete, isWithoutNotice || process.end < 0 else { return nil }
            return Finding(
                severity: .note,
                problem: isWithoutNotice
                    ? "The process\(of(number, " ")) ended without notice: only its `end` record is missing."
                    : "The recording\(of(number)) is truncated: it does not say how it ended.",
                evidence: [process.last],
                remedy: isWithoutNotice
                    ? "Check whether it was killed."
                    : "The last records are missing. Check whether the program was killed or the disk was full.")
        }
    }

    var unrecorded: [Finding] {
        recording.unrecorded.map {
            Finding(
                severity: .note, problem: "Not recorded\(of(Int($0.process))): \(Excerpt.of($0.reason))",
                remedy: "The findings are based on what was recorded.")
        }
    }

    private func of(_ process: Int, _ word: String = " of process ") -> String {
        recording.processes.count > 1 ? "\(word)\(recording.processes[process].id)" : ""
    }

    /// A process that forked, and whether the recording has its copies.
    var forks: [Finding] {
        let forks = index.records(of: .fork)
        guard let first = forks.first else { return [] }
        // A copy has its program's name, and may record before the program records the fork: it begins after the
        // thread's record before that.
        let before = index.before[Int(first)] < 0 ? first : index.before[Int(first)]
        let (processes, forked) = (recording.processes, recording.process(of: index.entry(first)))
        let later = Set(
            index.threads.indices.filter { index.threads[$0].first > before }.map { process(of: Int32($0)) }
        ).filter { $0 != forked && processes[$0].name == processes[forked].name }
        let copies =
            later.isEmpty
            ? "no copy is in this recording"
            : "this recording also has \(counted(later.count, "later process", plural: "later processes")) of its name"
        return [
            Finding(
                severity: .note, problem: "The process forked \(words.times(forks.count)); \(copies).",
                evidence: [first],
                remedy: "Call exec after fork, as Process does: a copy has only one thread and no run loop.",
                weight: forks.count)
        ]
    }
}
