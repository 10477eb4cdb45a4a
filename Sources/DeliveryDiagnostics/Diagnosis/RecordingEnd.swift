internal import DeliveryRecording
internal import ThreadedNotifications

/// Reports how the recording ended, and missing records.
enum RecordingEnd {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        let recording = index.recording
        let words = DiagnosisWords(index)
        var findings: [Finding] = []
        for process in recording.processes.indices where index.lastOfProcess[process] >= 0 {
            let last = index.lastOfProcess[process]
            let ofProcess = recording.processes.count > 1 ? " of process \(recording.processes[process].id)" : ""
            if index.end[process] < 0 {
                findings.append(
                    Finding(
                        kind: .recordingTruncated, severity: .note,
                        problem: "The recording\(ofProcess) is truncated: it does not say how it ended.",
                        evidence: [last],
                        remedy:
                            "The last records are missing. Check whether the program was killed or the disk was full.",
                        weight: 1))
            } else if case .signal(let signal)? = index.entry(index.end[process]).reason {
                findings += running(process, signal, index, words)
            }
        }
        return findings + missing(index, words)
    }

    /// The innermost handler of each thread that was running when the process ended by a signal.
    private static func running(
        _ process: Int, _ signal: UInt8, _ index: DeliveryIndex, _ words: DiagnosisWords
    ) -> [Finding] {
        let end = index.end[process]
        var innermost: [Int32: Int] = [:]
        for (number, handler) in index.handlers.enumerated()
        where handler.returned < 0 && Int(index.recording.threads[Int(handler.thread)].process) == process {
            innermost[handler.thread] = number
        }
        return innermost.sorted { $0.key < $1.key }.map { thread, number in
            let handler = index.handlers[number]
            let registered = handler.observer < 0 ? -1 : index.registered[Int(handler.observer)]
            let name = index.entry(handler.deliver).name
            let hasRecordedEnd = index.entry(end).thread == thread
            return Finding(
                kind: .endedInHandler, severity: hasRecordedEnd ? .problem : .note,
                problem:
                    "The process ended by signal \(signal) while \(words.thread(thread)) was in the handler of "
                    + "\(words.observer(handler.observer, name: name)).",
                evidence: [registered, handler.deliver, end].filter { $0 >= 0 },
                remedy: isCrash(signal)
                    ? "Start with that handler, and check whether it uses something that was released. Call "
                        + "cancelAndWait() before you release it."
                    : "The process was asked to end. If it was hanging, check what that handler waits for.",
                weight: hasRecordedEnd ? 2 : 1)
        }
    }

    /// True if the process itself caused the signal. The others are sent to ask a process to end.
    private static func isCrash(_ signal: UInt8) -> Bool {
        ![1, 2, 3, 13, 15].contains(signal)
    }

    private static func missing(_ index: DeliveryIndex, _ words: DiagnosisWords) -> [Finding] {
        let recording = index.recording
        var lost = (count: 0, first: Int32(-1))
        var forks = (count: 0, first: Int32(-1))
        for (entryIndex, entry) in recording.entries.enumerated() {
            if entry.stage == .lost {
                if lost.first < 0 { lost.first = Int32(entryIndex) }
                lost.count += max(1, Int(entry.count))
            } else if entry.stage == .fork {
                if forks.first < 0 { forks.first = Int32(entryIndex) }
                forks.count += 1
            }
        }
        var findings: [Finding] = []
        if lost.first >= 0 {
            findings.append(
                Finding(
                    kind: .lostRecords, severity: .note,
                    problem: "\(words.count(lost.count, "record")) \(lost.count == 1 ? "was" : "were") lost.",
                    evidence: [lost.first],
                    remedy: "The findings are based on the others. Record to a faster disk, or record less at a time.",
                    weight: lost.count))
        }
        // A truncated last line is already covered by the finding that the recording is truncated.
        if recording.problemCount > (recording.problems.first?.kind == .truncatedLine ? 1 : 0) {
            let first = recording.problems.first.map { ", the first: \($0)" } ?? ""
            findings.append(
                Finding(
                    kind: .lostRecords, severity: .note,
                    problem: "The file is damaged at \(words.count(recording.problemCount, "place"))\(first)",
                    evidence: [],
                    remedy: "The findings are based on the rest. Check whether the program itself writes to the file.",
                    weight: recording.problemCount))
        }
        if forks.first >= 0 {
            findings.append(
                Finding(
                    kind: .fork, severity: .note,
                    problem: "The process forked \(words.times(forks.count)); the copies are not recorded.",
                    evidence: [forks.first],
                    remedy:
                        "Call exec after fork, as Process does: a copy has only one thread and no run loop.",
                    weight: forks.count))
        }
        return findings
    }
}
