internal import DistributedNotifications

/// What an observer has received from another machine, where the posts are numbered from 1.
struct MachineTally {
    private(set) var received = 0
    private(set) var duplicates = 0
    private(set) var last = 0
    /// The first number that came after a larger one.
    private(set) var disordered: Int?
    private(set) var gaps: [NotificationGap.Cause: Int] = [:]
    private var seen: [Bool] = []

    var gap: Int { gaps.values.reduce(0, +) }

    mutating func receive(_ number: Int) {
        if number >= seen.count { seen += Array(repeating: false, count: max(1024, number + 1)) }
        if seen[number] {
            duplicates += 1
            return
        }
        seen[number] = true
        received += 1
        if number < last, disordered == nil { disordered = number }
        last = max(last, number)
    }

    mutating func receive(_ event: ConnectionEvent) {
        if case .gap(let gap) = event { gaps[gap.cause, default: 0] += gap.count }
    }
}
