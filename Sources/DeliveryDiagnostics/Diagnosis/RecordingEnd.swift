internal import DeliveryRecording

/// Reports how the recording ended, and missing records.
enum RecordingEnd {
    static func findings(_ words: RecordWords) -> [Finding] {
        let (index, recording) = (words.index, words.recording)
        guard !recording.entries.isEmpty || recording.processes.isEmpty else {
            return [
                Finding(
                    kind: .recordingTruncated, severity: .note, problem: "The recording has no records.", evidence: [],
                    remedy: "Check whether the program was killed before it used a center.", weight: 1)
            ] + missing(words)
        }
        var findings: [Finding] = []
        for (number, process) in index.processes.enumerated() {
            if recording.completeness[number] == .endedWithoutNotice {
                let id = recording.processes.count > 1 ? " \(recording.processes[number].id)" : ""
                findings.append(
                    Finding(
                        kind: .recordingTruncated, severity: .note,
                        problem: "The process\(id) ended without notice: only its `end` record is missing.",
                        evidence: [process.last], remedy: "Check whether it was killed.", weight: 1))
            } else if process.end < 0, recording.completeness[number] != .complete {
                let ofProcess = recording.processes.count > 1 ? " of process \(recording.processes[number].id)" : ""
                findings.append(
                    Finding(
                        kind: .recordingTruncated, severity: .note,
                        problem: "The recording\(ofProcess) is truncated: it does not say how it ended.",
                        evidence: [process.last],
                        remedy:
                            "The last records are missing. Check whether the program was killed or the disk was full.",
                        weight: 1))
            } else if process.end >= 0, case .signal(let signal)? = index.entry(process.end).reason {
                findings += running(number, signal, words)
            }
        }
        return findings + missing(words)
    }

    /// By these signals a process ends because of what it did itself. Others are sent to ask it to end.
    private static let crashes: Set<UInt8> = [4, 5, 6, 7, 8, 11, 31]

    /// The innermost handlers of the threads that were in one when the process ended by a signal. If the thread that
    /// ended the process is not known, each of them is a candidate.
    private static func running(_ process: Int, _ signal: UInt8, _ words: RecordWords) -> [Finding] {
        let index = words.index
        let end = index.processes[process].end
        let running = index.runningHandlers.filter { Int(index.recording.threads[Int($0.key)].process) == process }
            .sorted { $0.key < $1.key }
        let isCrash = crashes.contains(signal)
        guard index.entry(end).isThreadKnown || running.isEmpty || !isCrash else {
            let others = index.recording.threads.indices.contains { thread in
                Int(index.recording.threads[thread].process) == process && index.threads[thread].end < 0
                    && !running.contains { $0.key == thread }
            }
            let (were, each) =
                running.count == 1
                ? ("1 thread was in a handler", "that thread is a candidate")
                : ("\(running.count) threads were in handlers", "each of them is a candidate")
            return [
                Finding(
                    kind: .endedInHandler, severity: others ? .note : .problem,
                    problem: "The process ended by signal \(signal) while \(were). The recording does not say which "
                        + "thread ended it: \(each).",
                    evidence: running.map(\.value.begin) + [end],
                    details: running.map { thread, span in
                        let added = words.location(
                            of: words.registered(index.entry(span.begin).observer), ", added at ")
                        return "candidate: \(words.thread(thread)) in \(words.handler(span))\(added)"
                    }, remedy: remedy(signal, isCandidate: true), weight: 2,
                    name: index.entry(running[0].value.begin).name)
            ]
        }
        return running.map { thread, span in
            let entry = index.entry(span.begin)
            let isEndedHere = index.entry(end).isThreadKnown && index.entry(end).thread == thread
            return Finding(
                kind: .endedInHandler, severity: isCrash && isEndedHere ? .problem : .note,
                problem:
                    "The process ended by signal \(signal) while \(words.thread(thread)) was in "
                    + "\(words.handler(span)).",
                evidence: [words.registered(entry.observer), span.begin, end],
                remedy: remedy(signal), weight: isEndedHere ? 2 : 1, name: entry.name)
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
            "\(start) check whether it uses something that was released. Call cancelAndWait() before you release "
                + "it."
        case 8: "\(start) check its divisions."
        default: "The process was asked to end. If it was hanging, check what that handler waits for."
        }
    }

    private static func missing(_ words: RecordWords) -> [Finding] {
        let recording = words.recording
        func note(_ kind: Finding.Kind, _ problem: String, first: Int? = nil, remedy: String, weight: Int) -> Finding {
            Finding(
                kind: kind, severity: .note, problem: problem, evidence: first.map { [Int32($0)] } ?? [],
                remedy: remedy, weight: weight)
        }
        var findings: [Finding] = []
        let lost = recording.entries.indices.filter { recording.entries[$0].stage == .lost }
        if let first = lost.first {
            let count = lost.reduce(0) { $0 + max(1, Int(recording.entries[$1].count)) }
            findings.append(
                note(
                    .lostRecords, "\(counted(count, "record")) \(count == 1 ? "was" : "were") lost.", first: first,
                    remedy: "The findings are based on the others. Record to a faster disk, or record less at a time.",
                    weight: count))
        }
        // A truncated last line is already covered by the finding that the recording is truncated.
        if recording.problemCount > (recording.problems.first?.kind == .truncatedLine ? 1 : 0) {
            let first = recording.problems.first.map { ", the first: \($0)" } ?? ""
            findings.append(
                note(
                    .lostRecords, "The file is damaged at \(counted(recording.problemCount, "place"))\(first)",
                    remedy: "The findings are based on the rest. Check whether the program itself writes to the file.",
                    weight: recording.problemCount))
        }
        for unrecorded in recording.unrecorded {
            let ofProcess =
                recording.processes.count > 1 ? " of process \(recording.processes[Int(unrecorded.process)].id)" : ""
            findings.append(
                note(
                    .unrecorded, "Not recorded\(ofProcess): \(Excerpt.of(unrecorded.reason))",
                    remedy: "The findings are based on what was recorded.", weight: 1))
        }
        let forks = recording.entries.indices.filter { recording.entries[$0].stage == .fork }
        if let first = forks.first {
            // A copy has its program's name, and may record before the program records the fork: it begins after the
            // thread's record before that.
            let before =
                recording.entries[..<first].lastIndex { $0.thread == recording.entries[first].thread } ?? first
            let forked = recording.process(of: recording.entries[first])
            let later = recording.processes.indices.filter { process in
                process != forked && recording.processes[process].name == recording.processes[forked].name
                    && words.index.threads.indices.contains { thread in
                        recording.threads[thread].process == process && words.index.threads[thread].first > before
                    }
            }
            let copies =
                later.isEmpty
                ? "no copy is in this recording"
                : "this recording also has \(counted(later.count, "later process", plural: "later processes")) "
                    + "of its name"
            findings.append(
                note(
                    .fork, "The process forked \(words.times(forks.count)); \(copies).", first: first,
                    remedy: "Call exec after fork, as Process does: a copy has only one thread and no run loop.",
                    weight: forks.count))
        }
        return findings
    }
}
