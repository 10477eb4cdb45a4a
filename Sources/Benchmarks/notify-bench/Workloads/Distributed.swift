/// Workloads that post to observers in other processes, through the server.
enum Distributed {
    static func posts(observers: Int) -> Workload {
        let connections =
            observers == 1 ? "1 connection of another process" : "\(observers) connections of other processes"
        return Workload(
            name: "distributed-\(observers)", summary: "post 200 bytes to \(connections)",
            unit: "ns per notification", control: relay, operations: 1000...10_000_000, quickOperations: 10...1_000,
            contenders: contenders(observers, Subject.distributedPosts))
    }

    static func roundTrip(observers: Int) -> Workload {
        Workload(
            name: "distributed-round-trip-\(observers)",
            summary: "post 200 bytes until the last of \(observers) in other processes has them, one at a time",
            unit: "ns per round trip", control: relay, operations: 100...100_000, quickOperations: 10...1_000,
            contenders: contenders(observers, Subject.distributedRoundTrips))
    }

    private static let relay = "C relay"

    private static func contenders(
        _ count: Int, _ subject: @escaping @Sendable (DistributedPoster, ObserverProcess) -> Subject
    ) -> [Contender] {
        func contender(_ name: String, _ kind: ObserversProgram.Kind) -> Contender {
            Contender(name) { conditions in
                let poster =
                    try kind == .plain
                    ? DistributedPoster.throughRelay() : DistributedPoster.throughServer(conditions)
                do {
                    let observers = try ObserverProcess(kind, count, in: poster.directory, conditions)
                    try poster.start(count)
                    return subject(poster, observers)
                } catch {
                    poster.end()
                    throw error
                }
            }
        }
        var all = [contender(relay, .plain), contender("wire", .wire)]
        all += [contender("center", .center), contender("center, another thread", .thread)]
        // A hundred centers would have two hundred threads.
        if (2...10).contains(count) { all.append(contender("\(count) centers", .centers)) }
        return all
    }
}
