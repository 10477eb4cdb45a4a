internal import DistributedNotifications

/// What an observer has received from machines that number their posts from 1.
struct MachineTally {
    private(set) var received = 0
    private(set) var duplicates = 0
    /// The first number that came after a larger one of its machine.
    private(set) var disordered: Int?
    private(set) var gaps: [NotificationGap.Cause: Int] = [:]
    /// For each machine, the numbers that came.
    private var seen: [String: [Bool]] = [:]

    var gap: Int { gaps.values.reduce(0, +) }

    func last(of machine: String) -> Int { (seen[machine]?.count ?? 0) - 1 }

    mutating func receive(_ number: Int, of machine: String) {
        let expected = seen[machine]?.count ?? 0
        if number >= expected {
            // Those in between may come later, in disorder, or not at all.
            seen[machine, default: []] += repeatElement(false, count: number - expected) + [true]
        } else if seen[machine]?[number] == true {
            duplicates += 1
            return
        } else {
            seen[machine]?[number] = true
            disordered = disordered ?? number
        }
        received += 1
    }

    mutating func receive(_ event: ConnectionEvent) {
        guard case .gap(let gap) = event else { return }
        gaps[gap.cause, default: 0] += gap.count
    }
}
