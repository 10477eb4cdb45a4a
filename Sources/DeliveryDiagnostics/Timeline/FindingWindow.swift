internal import DeliveryRecording
internal import ThreadedNotifications

/// The part of a recording around its first finding.
package struct FindingWindow: Sendable {
    package let filter: RecordingFilter
    private let finding: String

    /// The number of records shown before the finding's and after them, and the most between them.
    private static let around = 100

    /// Nil if there is no finding, or if its surroundings are the whole recording.
    package init?(_ diagnosis: Diagnosis) {
        let entries = diagnosis.evidence.index.recording.entries
        guard let finding = diagnosis.findings.first, let last = finding.evidence.last.map(Int.init) else { return nil }
        // The last record is the fault; an observer may have been added long before.
        let first = finding.evidence.map(Int.init).first { $0 >= last - Self.around } ?? last
        let shown = max(0, first - Self.around)...min(entries.count - 1, last + Self.around)
        guard shown != 0...entries.count - 1 else { return nil }
        func time(_ entry: Int) -> Int64 { Int64(clamping: entries[entry].time &- entries[0].time) }
        filter = RecordingFilter(from: time(shown.lowerBound), to: time(shown.upperBound))
        self.finding = finding.problem
    }

    var words: String { "Around the first finding: \(finding) --from 0s draws from the beginning." }
}
