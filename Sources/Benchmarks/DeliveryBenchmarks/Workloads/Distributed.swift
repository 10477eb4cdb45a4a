/// Posts to observers in another process, through the server.
enum Distributed {
    static func posts(observers: Int) -> Workload {
        Workload(
            name: "distributed-\(observers)",
            summary: "post 200 bytes to \(observers) connection\(observers == 1 ? "" : "s") of another process",
            unit: .nanoseconds(per: "notification"), control: relay,
            operations: 1000...10_000_000, quickOperations: 10...1_000,
            contenders: contenders(observers, isRoundTrip: false))
    }

    static func roundTrip(observers: Int) -> Workload {
        Workload(
            name: "distributed-round-trip-\(observers)",
            summary: "post 200 bytes until the last of \(observers) in another process has them, one at a time",
            unit: .nanoseconds(per: "round trip"), control: relay,
            operations: 100...100_000, quickOperations: 10...1_000,
            contenders: contenders(observers, isRoundTrip: true))
    }

    private static let relay = "C relay"

    private static func contenders(_ count: Int, isRoundTrip: Bool) -> [Contender] {
        let wire = [
            Contender(relay) { try throughRelay(count, isRoundTrip, $0) },
            Contender("wire") { try throughServer(.wire, count, isRoundTrip, $0) },
        ]
        // A hundred centers would have two hundred threads.
        guard count <= 10 else { return wire }
        return wire + [
            Contender("center") { try throughServer(.center, count, isRoundTrip, $0) },
            Contender("center, another thread") { try throughServer(.thread, count, isRoundTrip, $0) },
        ]
    }

    private static func throughServer(
        _ kind: ObserversProgram.Kind, _ count: Int, _ isRoundTrip: Bool, _ conditions: BenchmarkConditions
    ) throws -> DistributedSubject {
        let poster = try DistributedPoster(timeout: conditions.timeout)
        do {
            let observers = try ObserversProcess(kind, count, path: poster.directory, conditions)
            return DistributedSubject(observers, isRoundTrip: isRoundTrip, post: poster.post, end: poster.end)
        } catch {
            poster.end()
            throw error
        }
    }

    private static func throughRelay(
        _ count: Int, _ isRoundTrip: Bool, _ conditions: BenchmarkConditions
    ) throws -> DistributedSubject {
        let poster = try RelayPoster()
        do {
            let observers = try ObserversProcess(.plain, count, path: poster.path, conditions)
            let subject = DistributedSubject(observers, isRoundTrip: isRoundTrip, post: poster.post, end: poster.end)
            do {
                try poster.start(readers: count, core: conditions.targetCore)
            } catch {
                observers.end()
                throw error
            }
            return subject
        } catch {
            poster.end()
            throw error
        }
    }
}
