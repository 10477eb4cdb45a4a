internal import DeliveryRecording
internal import ThreadedNotifications

/// The numbers of the audit. A post matches an observer once; except `skipped` and `earlier`, the outcomes add up to
/// `matched`.
enum AuditCount: Int, CaseIterable {
    /// Posts that matched the observer and were not skipped. Of blocks and posting queues: all that were enqueued.
    case matched
    case delivered
    case coalesced
    case dropped
    case cancelled
    case targetGone
    case pending
    /// Posts without a record of their outcome.
    case lost
    case skipped
    /// Outcomes of posts from before the recording.
    case earlier

    var words: String { self == .targetGone ? "target gone" : "\(self)" }

    /// The count of an outcome, also of one in a posting queue; nil if the stage is none.
    init?(_ outcome: DeliveryStage) {
        switch outcome {
        case .deliver, .post: self = .delivered
        case .coalesce: self = .coalesced
        case .drop: self = .dropped
        case .cancel, .dequeue: self = .cancelled
        case .targetGone: self = .targetGone
        default: return nil
        }
    }
}

/// A number for each `AuditCount`.
struct AuditCounters: Sendable, Hashable {
    private var values = SIMD16<Int>()

    init() {}

    /// The counters that the library keeps. Waiting notifications are only part of `matched`.
    init(_ counters: DeliveryCounters) {
        self[.matched] = counters.total
        self[.delivered] = counters.delivered
        self[.coalesced] = counters.coalesced
        self[.dropped] = counters.dropped + counters.refused
        self[.cancelled] = counters.cancelled
        self[.targetGone] = counters.targetGone
    }

    subscript(_ count: AuditCount) -> Int {
        get { values[count.rawValue] }
        set { values[count.rawValue] = newValue }
    }

    mutating func count(_ outcome: DeliveryStage) {
        if let count = AuditCount(outcome) { self[count] += 1 }
    }

    static func += (sum: inout AuditCounters, other: AuditCounters) { sum.values &+= other.values }
}
