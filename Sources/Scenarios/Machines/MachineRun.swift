internal import DistributedNotifications

/// What became of the posts of one machine for an observer on another one, while something went wrong.
struct MachineRun: Sendable, Hashable {
    let fault: String
    var posted = 0
    var received = 0
    var gap = 0
    /// The part of the gap that the observer's slowness caused, and not the fault.
    var slow = 0
    var duplicates = 0
    /// Nil: all is as promised.
    var problem: String?
    /// Nil: it was run.
    var skipped: String?

    /// - Parameter posts: so many are posted before, during and after the fault, together.
    init(_ fault: MachineFault, posts: Int, _ programs: MachinePrograms, timeout: Duration) {
        self.fault = fault.name
        skipped = fault.missing()
        guard skipped == nil else { return }
        do {
            try run(fault, posts, programs, timeout)
        } catch {
            if "\(error)".contains("built without it") {
                skipped = "the bridge is built without TLS: BRIDGE=tls swift build --product notification-bridge"
            } else {
                problem = "\(error)"
            }
        }
    }

    private mutating func run(
        _ fault: MachineFault, _ posts: Int, _ programs: MachinePrograms, _ timeout: Duration
    ) throws {
        let rig = try MachineRig(programs, timeout: timeout, fault.prepare)
        if fault.isMutual { try rig.one.observe() }
        let (posters, observers) = fault.isMutual ? ([rig.one, rig.two], [rig.one, rig.two]) : ([rig.one], [rig.two])
        func post(_ count: Int) throws { for index in 0..<count { try posters[index % posters.count].post() } }
        // What is lost before the first one is not known to be for the observer.
        try post(posters.count)
        for observer in observers { for poster in posters { try observer.wait(for: 1, of: poster) } }
        let (before, during) = (posts * 2 / 5, posts / 2)
        try post(before)
        try fault.begin(rig)
        try post(during)
        try fault.end(rig)
        for machine in [rig.one, rig.two] { try machine.synchronize() }
        // A loss is found when a later one arrives.
        try post(max(posters.count, posts - posters.count - before - during))
        for observer in observers {
            let expected = posters.reduce(0) { $0 + $1.posted }
            defer { add(observer.tally, expected: expected, fault) }
            for poster in posters { try observer.wait(for: poster.posted, of: poster) }
        }
    }

    private mutating func add(_ tally: MachineTally, expected: Int, _ fault: MachineFault) {
        posted += expected
        received += tally.received
        gap += tally.gap
        slow += tally.gaps[.slow] ?? 0
        duplicates += tally.duplicates
        if let number = tally.disordered {
            problem = "number \(number) came after a later one"
        } else if tally.duplicates > 0 {
            problem = "\(tally.duplicates) came twice"
        } else if expected != tally.received + tally.gap {
            problem = "\(expected) were posted, \(tally.received) received, and the gap is \(tally.gap)"
        } else if let missing = tally.gaps[.missing], fault.loss == .none {
            problem = "\(missing) were lost"
        } else if tally.gap == 0, fault.loss == .certain {
            problem = "nothing was lost"
        }
    }
}
