internal import DeliveryRecording
internal import ThreadedNotifications

/// What became of what was posted for one observer, as the library counts it or as records tell it.
struct ObserverCounts: Hashable, CustomStringConvertible {
    var posted = 0
    private var fates: [DeliveryStage: Int] = [:]

    init() {}

    init(_ counts: DeliveryCounters) {
        posted = counts.total
        self[.deliver] = counts.delivered
        self[.coalesce] = counts.coalesced
        self[.drop] = counts.dropped + counts.refused
        self[.cancel] = counts.cancelled
        self[.targetGone] = counts.targetGone
    }

    /// How many met a fate.
    subscript(fate: DeliveryStage) -> Int {
        get { fates[fate] ?? 0 }
        set { fates[fate] = newValue }
    }

    var pending: Int { posted - fates.values.reduce(0, +) }

    /// Such as "posted 3, delivered 1, cancelled 2": what is none is left out.
    var description: String {
        let all = [
            ("delivered", self[.deliver]), ("coalesced", self[.coalesce]), ("dropped", self[.drop]),
            ("cancelled", self[.cancel]), ("target gone", self[.targetGone]), ("pending", pending),
        ]
        return (["posted \(posted)"] + all.filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" }).joined(separator: ", ")
    }
}
