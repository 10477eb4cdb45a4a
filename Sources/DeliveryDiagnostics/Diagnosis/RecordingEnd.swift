internal import DeliveryRecording

/// Reports how the recording ended, and missing records.
enum RecordingEnd {
    static func findings(_ words: RecordWords) -> [Finding] {
        let (index, recording) = (words.index, words.recording)
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

    /// The innermost handler of each thread that was running when the process ended by a signal.
    private static func running(_ process: Int, _ signal: UInt8, _ words: RecordWords) -> [Finding] {
        let index = words.index
        let end = index.processes[process].end
        let running = index.runningHandlers.filter { Int(index.recording.threads[Int($0.key)].process) == process }
        return running.sorted { $0.key < $1.key }.map { thread, span in
            let entry = index.entry(span.begin)
            let hasRecordedEnd = index.entry(end).thread == thread
            // Other signals are sent to ask a process to end.
            let isCrash = ![1, 2, 3, 13, 15].contains(signal)
            return Finding(
                kind: .endedInHandler, severity: hasRecordedEnd ? .problem : .note,
                problem:
                    "The process ended by signal \(signal) while \(words.thread(thread)) was in the handler of "
                    + "\(words.observer(of: span)).",
                evidence: [words.registered(entry.observer), span.begin, end],
                remedy: isCrash
                    ? "Start with that handler, and check whether it uses something that was released. Call "
                        + "cancelAndWait() before you release it."
                    : "The process was asked to end. If it was hanging, check what that handler waits for.",
                weight: hasRecordedEnd ? 2 : 1, name: entry.name)
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
            findings.append(
                note(
                    .fork, "The process forked \(words.times(forks.count)); the copies are not recorded.", first: first,
                    remedy: "Call exec after fork, as Process does: a copy has only one thread and no run loop.",
                    weight: forks.count))
        }
        return findings
    }
}
