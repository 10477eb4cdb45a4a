internal import DistributedNotifications

/// The posts that observers have received from machines, which number them from 1.
struct MachineTally: Sendable, Hashable {
    /// Each counts once for each observer.
    var posted = 0
    private(set) var received = 0
    /// Those that came again, or after a later one.
    private(set) var disordered = 0
    private(set) var gaps: [NotificationGap.Cause: Int] = [:]
    /// For each observer and poster, the largest number.
    private(set) var last: [[String]: Int] = [:]

    var gap: Int { gaps.values.reduce(0, +) }

    /// Each observer has the last post of each poster, or all losses are known.
    var isComplete: Bool { received + gap >= posted || last.values.reduce(0, +) == posted }

    mutating func receive(_ number: Int, from poster: String, at observer: String) {
        guard number > last[[observer, poster], default: 0] else {
            disordered += 1
            return
        }
        received += 1
        last[[observer, poster]] = number
    }

    mutating func receive(_ event: ConnectionEvent) {
        guard case .gap(let gap) = event else { return }
        gaps[gap.cause, default: 0] += gap.count
    }

    /// The promise that does not hold.
    func problem(_ loss: MachineFault.Loss) -> String? {
        if disordered > 0 { return "\(disordered) came twice, or after a later one" }
        if posted != received + gap { return "\(posted) were posted, \(received) received, and the gap is \(gap)" }
        if let missing = gaps[.missing], loss == .none { return "\(missing) were lost" }
        return gap == 0 && loss == .certain ? "nothing was lost" : nil
    }
}
