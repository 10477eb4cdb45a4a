internal import DeliveryRecording
internal import TerminalText

extension Detector {
    /// Reports which records are missing: those before the end, those that were lost, and what could not be recorded.
    static let incomplete = Detector(
        "incomplete", "records are missing, or something could not be recorded",
        formerly: ["lostRecords", "recordingTruncated", "unrecorded"]
    ) { evidence in
        let recording = evidence.index.recording
        var findings: [Finding] = []
        func note(_ problem: String, _ evidence: [Int32] = [], remedy: String, weight: Int = 1, formerly kind: String) {
            findings.append(
                Finding(
                    severity: .note, problem: problem, evidence: evidence, remedy: remedy, weight: weight,
                    formerKind: kind))
        }
        func ofProcess(_ process: Int, _ word: String) -> String {
            recording.processes.count > 1 ? "\(word)\(recording.processes[process].id)" : ""
        }
        let lost = evidence.index.records(of: .lost)
        if let first = lost.first {
            let count = lost.reduce(0) { $0 + max(1, Int(evidence.index.entry($1).count)) }
            note(
                "\(counted(count, "record")) \(count == 1 ? "was" : "were") lost.", [first],
                remedy: "The findings are based on the others. Record to a faster disk, or record less at a time.",
                weight: count, formerly: "lostRecords")
        }
        // A truncated last line is already covered by the finding that the recording is truncated.
        if recording.problemCount > (recording.problems.first?.kind == .truncatedLine ? 1 : 0) {
            let first = recording.problems.first.map { ", the first: \($0)" } ?? ""
            note(
                "The file is damaged at \(counted(recording.problemCount, "place"))\(first)",
                remedy: "The findings are based on the rest. Check whether the program itself writes to the file.",
                weight: recording.problemCount, formerly: "lostRecords")
        }
        if recording.entries.isEmpty, !recording.processes.isEmpty {
            note(
                "The recording has no records.",
                remedy: "Check whether the program was killed before it used a center.", formerly: "recordingTruncated")
        }
        for (number, process) in evidence.index.processes.enumerated() where !recording.entries.isEmpty {
            if recording.completeness[number] == .endedWithoutNotice {
                note(
                    "The process\(ofProcess(number, " ")) ended without notice: only its `end` record is missing.",
                    [process.last], remedy: "Check whether it was killed.", formerly: "recordingTruncated")
            } else if process.end < 0, recording.completeness[number] != .complete {
                note(
                    "The recording\(ofProcess(number, " of process ")) is truncated: it does not say how it ended.",
                    [process.last],
                    remedy: "The last records are missing. Check whether the program was killed or the disk was full.",
                    formerly: "recordingTruncated")
            }
        }
        for unrecorded in recording.unrecorded {
            note(
                "Not recorded\(ofProcess(Int(unrecorded.process), " of process ")): \(Excerpt.of(unrecorded.reason))",
                remedy: "The findings are based on what was recorded.", formerly: "unrecorded")
        }
        return findings
    }
}
