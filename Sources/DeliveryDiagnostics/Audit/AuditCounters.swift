internal import DeliveryRecording
internal import ThreadedNotifications

/// The outcomes of the posts of one observer, as the audit counts them.
struct AuditCounters: Sendable, Hashable {
    /// Posts that matched the observer and were not skipped.
    var posted = 0
    var delivered = 0
    var coalesced = 0
    var dropped = 0
    var cancelled = 0
    var targetGone = 0
    var pending = 0
    /// Posts without a record of their outcome.
    var lost = 0
    /// Posts that were skipped for this observer. Not included in `posted`.
    var skipped = 0
    /// Outcomes of posts from before the recording. Not included in `posted`.
    var earlier = 0

    /// The counters with their names in words.
    static var all: [(name: String, counter: WritableKeyPath<AuditCounters, Int>)] {
        [
            ("posted", \.posted), ("delivered", \.delivered), ("coalesced", \.coalesced), ("dropped", \.dropped),
            ("cancelled", \.cancelled), ("target gone", \.targetGone), ("pending", \.pending), ("lost", \.lost),
            ("skipped", \.skipped), ("earlier", \.earlier),
        ]
    }

    mutating func count(_ outcome: DeliveryStage) {
        switch outcome {
        case .deliver: delivered += 1
        case .coalesce: coalesced += 1
        case .drop: dropped += 1
        case .cancel: cancelled += 1
        case .targetGone: targetGone += 1
        default: break
        }
    }

    static func += (sum: inout AuditCounters, other: AuditCounters) {
        for (_, counter) in all { sum[keyPath: counter] += other[keyPath: counter] }
    }
}

extension AuditCounters {
    /// The counters that the library keeps for an observer. What waits is only part of `posted`.
    init(_ counters: DeliveryCounters) {
        self.init(
            posted: counters.total, delivered: counters.delivered, coalesced: counters.coalesced,
            dropped: counters.dropped + counters.refused, cancelled: counters.cancelled,
            targetGone: counters.targetGone)
    }
}
