internal import DistributedNotifications

/// The outcomes of the notifications for one client, or for all, counted. `ServerStatus` documents the numbers.
struct NotificationCounts: Hashable, Sendable {
    var matched = 0
    var delivered = 0
    var dropped = 0
    var discarded = 0
    var coalesced = 0
    var suppressed = 0
    var removed = 0

    static func + (one: NotificationCounts, other: NotificationCounts) -> NotificationCounts {
        NotificationCounts(
            matched: one.matched + other.matched, delivered: one.delivered + other.delivered,
            dropped: one.dropped + other.dropped, discarded: one.discarded + other.discarded,
            coalesced: one.coalesced + other.coalesced, suppressed: one.suppressed + other.suppressed,
            removed: one.removed + other.removed)
    }

    var status: [String: PropertyListValue] {
        let numbers = [
            "matched": matched, "delivered": delivered, "dropped": dropped, "discarded": discarded,
            "coalesced": coalesced, "suppressed": suppressed, "removed": removed,
        ]
        return numbers.mapValues { .integer(Int64($0)) }
    }
}
