/// All workloads, in their order in the output.
package enum Workloads {
    package static let all: [Workload] =
        [1, 10].map(SameThread.posts)
        + [1, 1000, 1_000_000].map(SameThread.names)
        + [1, 2, 4, 8].map(OtherThreads.burst) + [OtherThreads.typedBurst]
        + [4, 16].map(OtherThreads.fanOut)
        + [("100us", 100_000), ("1ms", 1_000_000), ("10ms", 10_000_000)].map(OtherThreads.paced)
        + [OtherThreads.performing, OtherThreads.roundTrip, OtherThreads.waiting]
        + [1, 8].map(OtherThreads.backlog)
        + [1, 10].map(Distributed.posts) + [1, 10].map(Distributed.roundTrip)
        + [SameThread.enqueuing, Memory.waiting, Memory.allocations]

    /// The workloads of this name. A name without its number selects all with a number: `burst` is `burst-1`, `burst-2`
    /// and so on, and `distributed` includes `distributed-round-trip-1`.
    package static func named(_ name: String) -> [Workload] {
        let same = all.filter { $0.name == name }
        if !same.isEmpty { return same }
        guard all.contains(where: { $0.family == name }) else { return [] }
        return all.filter { $0.family == name || $0.family.hasPrefix("\(name)-") }
    }

    /// All names that `named` accepts.
    package static let names: [String] = all.reduce(into: []) { names, workload in
        for name in [workload.family, workload.name] where !names.contains(name) { names.append(name) }
    }
}
