internal import DeliveryRecording

/// The part of a recording around its first finding.
package struct FindingWindow: Sendable {
    package let selection: RecordingSelection
    let words: String

    /// Nil if there is no finding, or if its surroundings are the whole recording.
    package init?(_ diagnosis: Diagnosis) {
        let index = diagnosis.evidence.index
        let count = index.recording.entries.count
        guard let finding = diagnosis.findings.first, let last = finding.evidence.last.map(Int.init) else { return nil }
        // The last record is the fault; an observer may have been added long before.
        let first = finding.evidence.map(Int.init).first { $0 >= last - 100 } ?? last
        let shown = max(0, first - 100)...min(count - 1, last + 100)
        func time(_ entry: Int) -> Int64 { max(0, index.recording.elapsed(index.recording.entries[entry])) }
        guard shown != 0...count - 1,
            let part = try? RecordingSelection(from: time(shown.lowerBound), to: time(shown.upperBound), of: index)
        else { return nil }
        selection = part
        words = "Around the first finding: \(finding.problem) --from 0s draws from the beginning."
    }
}
