internal import DeliveryRecording
internal import TerminalText

extension Detector {
    /// Reports which records are missing: those before the end, those that were lost, and what could not be recorded.
    static let incomplete = Detector(
        "incomplete", "records are missing, or something could not be recorded",
        formerly: ["lostRecords", "recordingTruncated", "unrecorded"]
    ) { evidence in
        let (index, recording) = (evidence.index, evidence.recording)
        var findings: [Finding] = []
        func note(_ kind: String, _ problem: String, _ remedy: String, _ evidence: [Int32] = [], weight: Int = 1) {
            findings.append(
                Finding(
                    severity: .note, problem: problem, evidence: evidence, remedy: remedy, weight: weight,
                    formerKind: kind))
        }
        func ofProcess(_ process: Int, _ word: String) -> String {
            recording.processes.count > 1 ? "\(word)\(recording.processes[process].id)" : ""
        }
        let lost = index.records(of: .lost)
        if !lost.isEmpty {
            let count = lost.reduce(0) { $0 + max(1, Int(index.entry($1).count)) }
            note(
                "lostRecords", "\(counted(count, "record")) \(count == 1 ? "was" : "were") lost.",
                "The findings are based on the others. Record to a faster disk, or record less at a time.",
                [lost[0]], weight: count)
        }
        // A truncated last line is already covered by the finding that the recording is truncated.
        if recording.problemCount > (recording.problems.first?.kind == .truncatedLine ? 1 : 0) {
            let first = recording.problems.first.map { ", the first: \($0)" } ?? ""
            note(
                "lostRecords", "The file is damaged at \(counted(recording.problemCount, "place"))\(first)",
                "The findings are based on the rest. Check whether the program itself writes to the file.",
                weight: recording.problemCount)
        }
        if recording.entries.isEmpty, !recording.processes.isEmpty {
            note(
                "recordingTruncated", "The recording has no records.",
                "Check whether the program was killed before it used a center.")
        }
        for (number, process) in index.processes.enumerated() where !recording.entries.isEmpty {
            if recording.completeness[number] == .endedWithoutNotice {
                note(
                    "recordingTruncated",
                    "The process\(ofProcess(number, " ")) ended without notice: only its `end` record is missing.",
                    "Check whether it was killed.", [process.last])
            } else if process.end < 0, recording.completeness[number] != .complete {
                note(
                    "recordingTruncated",
                    "The recording\(ofProcess(number, " of process ")) is truncated: it does not say how it ended.",
                    "The last records are missing. Check whether the program was killed or the disk was full.",
                    [process.last])
            }
        }
        for unrecorded in recording.unrecorded {
            note(
                "unrecorded",
                "Not recorded\(ofProcess(Int(unrecorded.process), " of process ")): \(Excerpt.of(unrecorded.reason))",
                "The findings are based on what was recorded.")
        }
        return findings
    }
}
