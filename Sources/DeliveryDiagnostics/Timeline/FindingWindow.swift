internal import DeliveryRecording

/// The part of a recording around its first finding.
package struct FindingWindow: Sendable {
    /// In nanoseconds since the first record.
    package let times: ClosedRange<Int64>
    let words: String

    /// Nil if there is no finding, or if its surroundings are the whole recording.
    package init?(_ diagnosis: Diagnosis) {
        let recording = diagnosis.evidence.index.recording
        guard let finding = diagnosis.findings.first, let last = finding.evidence.last.map(Int.init) else { return nil }
        // The last record is the fault; an observer may have been added long before.
        let first = finding.evidence.map(Int.init).first { $0 >= last - 100 } ?? last
        let shown = max(0, first - 100)...min(recording.entries.count - 1, last + 100)
        guard shown != 0...recording.entries.count - 1 else { return nil }
        func time(_ entry: Int) -> Int64 { max(0, recording.elapsed(recording.entries[entry])) }
        times = time(shown.lowerBound)...max(time(shown.lowerBound), time(shown.upperBound))
        words = "Around the first finding: \(finding.problem) --from 0s draws from the beginning."
    }
}
