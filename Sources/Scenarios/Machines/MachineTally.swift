internal import DistributedNotifications

/// What became of the posts of machines that number them from 1.
struct MachineTally: Sendable, Hashable {
    /// Each counts once for each observer.
    var posted = 0
    private(set) var received = 0
    /// Those that came again, or after a later one.
    private(set) var disordered = 0
    private(set) var gaps: [NotificationGap.Cause: Int] = [:]
    /// For each machine, the largest number.
    private(set) var last: [String: Int] = [:]

    var gap: Int { gaps.values.reduce(0, +) }

    mutating func receive(_ number: Int, from machine: String) {
        let isNew = number > last[machine, default: 0]
        received += isNew ? 1 : 0
        disordered += isNew ? 0 : 1
        if isNew { last[machine] = number }
    }

    mutating func receive(_ event: ConnectionEvent) {
        guard case .gap(let gap) = event else { return }
        gaps[gap.cause, default: 0] += gap.count
    }

    /// Adds what another observer has received.
    static func += (tally: inout MachineTally, other: MachineTally) {
        tally.posted += other.posted
        tally.received += other.received
        tally.disordered += other.disordered
        tally.gaps.merge(other.gaps, uniquingKeysWith: +)
    }

    /// The promise that does not hold.
    func problem(_ loss: MachineFault.Loss) -> String? {
        if disordered > 0 { return "\(disordered) came twice, or after a later one" }
        if posted != received + gap { return "\(posted) were posted, \(received) received, and the gap is \(gap)" }
        if let missing = gaps[.missing], loss == .none { return "\(missing) were lost" }
        return gap == 0 && loss == .certain ? "nothing was lost" : nil
    }
}
