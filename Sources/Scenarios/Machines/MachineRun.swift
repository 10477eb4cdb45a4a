internal import DistributedNotifications

/// What became of the posts of one machine for an observer on another one, while something went wrong.
struct MachineRun: Sendable, Hashable {
    let fault: String
    var posted = 0
    var received = 0
    var gap = 0
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
        let posters = fault.isMutual ? [rig.one, rig.two] : [rig.one]
        func post(_ count: Int) throws { for _ in 0..<count { for poster in posters { try poster.post() } } }
        let observed = zip(posters, [rig.two, rig.one])

        try post(posts * 2 / 5)
        // What is lost before the first one is not known to be for the observer.
        for (_, observer) in observed { try observer.wait(for: 1) }
        try fault.begin(rig)
        try post(posts / 2)
        try fault.end(rig)
        for machine in [rig.one, rig.two] { try machine.synchronize() }
        // A loss is found when a later one arrives.
        try post(posts - posts * 2 / 5 - posts / 2 + 10)
        for (poster, observer) in observed {
            defer { add(poster, observer.tally, fault) }
            try observer.wait(for: poster.posted)
        }
    }

    private mutating func add(_ poster: Machine, _ tally: MachineTally, _ fault: MachineFault) {
        posted += poster.posted
        received += tally.received
        gap += tally.gap
        duplicates += tally.duplicates
        if let number = tally.disordered {
            problem = "number \(number) came after a later one"
        } else if tally.duplicates > 0 {
            problem = "\(tally.duplicates) came twice"
        } else if poster.posted != tally.received + tally.gap {
            problem = "\(poster.posted) were posted, \(tally.received) received, and the gap is \(tally.gap)"
        } else if let missing = tally.gaps[.missing], !fault.mayLose {
            problem = "\(missing) were lost"
        }
    }
}
