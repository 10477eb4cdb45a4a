internal import DistributedNotifications
internal import ThreadedNotifications

/// What became of the posts of one machine for an observer on another one, while something went wrong.
struct MachineRun: Sendable, Hashable {
    let fault: String
    /// Each counts once for each observer.
    private(set) var posted = 0
    private(set) var tally = MachineTally()
    /// Nil: all is as promised.
    private(set) var problem: String?
    /// Nil: it was run.
    private(set) var skipped: String?

    /// - Parameter posts: so many are posted before, during and after the fault, together.
    init(_ fault: MachineFault, posts: Int, timeout: Duration) {
        (self.fault, skipped) = (fault.name, fault.missing)
        guard skipped == nil else { return }
        do {
            let rig = try MachineRig(timeout: timeout, fault.prepare)
            defer { for machine in rig.machines { tally.add(machine.tally.withLock { $0 }) } }
            try run(fault, posts, rig)
        } catch {
            let isSkipped = "\(error)".contains("BRIDGE=tls")
            skipped = isSkipped ? "the bridge is built without TLS: BRIDGE=tls swift build" : nil
            problem = isSkipped ? nil : "\(error)"
        }
        problem = problem ?? tally.problem(posted: posted, fault.loss)
    }

    private mutating func run(_ fault: MachineFault, _ posts: Int, _ rig: MachineRig) throws {
        if fault.isMutual { try rig.one.observe() }
        let (posters, observers) = fault.isMutual ? (rig.machines, rig.machines) : ([rig.one], [rig.two])
        func post(_ count: Int) throws { for index in 0..<count { try posters[index % posters.count].post() } }
        func waitForAll() throws {
            posted = posters.reduce(0) { $0 + $1.posted } * observers.count
            for observer in observers { try observer.waitForAll(of: posters) }
        }
        // What is lost before the first one is not known to be for the observer.
        try post(posters.count)
        try waitForAll()
        let (before, during) = (posts * 2 / 5, posts / 2)
        try post(before)
        try fault.begin(rig)
        try post(during)
        try fault.end(rig)
        for machine in rig.machines { try machine.synchronize() }
        // A loss is found when a later one arrives.
        try post(max(posters.count, posts - posters.count - before - during))
        try waitForAll()
        if fault.isMutual { for machine in rig.machines { try machine.expectNoLoop() } }
    }
}

/// What an observer has received from machines that number their posts from 1.
struct MachineTally: Sendable, Hashable {
    private(set) var received = 0
    /// Those that came again, or after a later one.
    private(set) var disordered = 0
    private(set) var gaps: [NotificationGap.Cause: Int] = [:]
    /// For each machine, the largest number.
    private(set) var last: [String: Int] = [:]

    var gap: Int { gaps.values.reduce(0, +) }

    mutating func receive(_ number: Int, from machine: String) {
        let largest = last.updateValue(number, forKey: machine) ?? 0
        if number > largest {
            received += 1
        } else {
            disordered += 1
            last[machine] = largest
        }
    }

    mutating func receive(_ event: ConnectionEvent) {
        guard case .gap(let gap) = event else { return }
        gaps[gap.cause, default: 0] += gap.count
    }

    mutating func add(_ other: MachineTally) {
        received += other.received
        disordered += other.disordered
        gaps.merge(other.gaps, uniquingKeysWith: +)
    }

    /// The promise that does not hold.
    func problem(posted: Int, _ loss: MachineFault.Loss) -> String? {
        if disordered > 0 { return "\(disordered) came twice, or after a later one" }
        if posted != received + gap { return "\(posted) were posted, \(received) received, and the gap is \(gap)" }
        if let missing = gaps[.missing], loss == .none { return "\(missing) were lost" }
        return gap == 0 && loss == .certain ? "nothing was lost" : nil
    }
}
