/// All workloads, in their order in the output.
package enum Workloads {
    package static let all: [Workload] =
        [0, 1, 10, 100, 10_000].map(SameThread.workload)
        + [TypedPosts.sameThread, Later.workload]
        + [1, 1000, 1_000_000].map(Names.workload)
        + [1, 2, 4, 8].map(Burst.workload)
        + [TypedPosts.otherThread]
        + [1, 4, 16].map(FanOut.workload)
        + Paced.Interval.allCases.map(Paced.workload)
        + [Performing.workload, RoundTrip.workload, Waiting.workload]
        + [1, 2, 4, 8].map(Backlog.workload)
        + [1, 10, 100].map(Distributed.posts) + [1, 10, 100].map(Distributed.roundTrip)
        + [0, 1000].map(AddAndRemove.workload)
        + [false, true].map(Enqueuing.workload)
        + (Memory.canBeMeasured ? [Memory.workload] : [])
        + (Allocations.canBeCounted ? [Allocations.workload] : [])

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

extension Workload {
    /// The name without its number.
    var family: String {
        guard let dash = name.lastIndex(of: "-") else { return name }
        let number = name[dash...].dropFirst()
        return number.first?.isNumber == true ? String(name[..<dash]) : name
    }
}
