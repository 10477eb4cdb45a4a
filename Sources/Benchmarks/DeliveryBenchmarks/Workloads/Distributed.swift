/// Posts to observers in other processes, through the server.
enum Distributed {
    static func posts(observers: Int) -> Workload {
        let connections =
            observers == 1 ? "1 connection of another process" : "\(observers) connections of other processes"
        return Workload(
            name: "distributed-\(observers)", summary: "post 200 bytes to \(connections)",
            unit: .nanoseconds(per: "notification"), control: relay,
            operations: 1000...10_000_000, quickOperations: 10...1_000,
            contenders: contenders(observers, isRoundTrip: false))
    }

    static func roundTrip(observers: Int) -> Workload {
        Workload(
            name: "distributed-round-trip-\(observers)",
            summary: "post 200 bytes until the last of \(observers) in other processes has them, one at a time",
            unit: .nanoseconds(per: "round trip"), control: relay,
            operations: 100...100_000, quickOperations: 10...1_000,
            contenders: contenders(observers, isRoundTrip: true))
    }

    private static let relay = "C relay"

    private static func contenders(_ count: Int, isRoundTrip: Bool) -> [Contender] {
        let wire = [
            Contender(relay) { try throughRelay(Observers(count), isRoundTrip, $0) },
            Contender("wire") { try throughServer(.wire, Observers(count), isRoundTrip, $0) },
        ]
        // A hundred centers would have two hundred threads.
        guard count <= 10 else { return wire }
        let centers = [
            Contender("center") { try throughServer(.center, Observers(count), isRoundTrip, $0) },
            Contender("center, another thread") { try throughServer(.thread, Observers(count), isRoundTrip, $0) },
        ]
        guard count > 1 else { return wire + centers }
        let separate = Observers(count, areSeparate: true)
        return wire + centers + [
            Contender("C relay, own processes") { try throughRelay(separate, isRoundTrip, $0) },
            Contender("center, own processes") { try throughServer(.center, separate, isRoundTrip, $0) },
        ]
    }

    private struct Observers {
        let count: Int
        /// Whether each observer has a process of its own.
        let areSeparate: Bool

        init(_ count: Int, areSeparate: Bool = false) {
            self.count = count
            self.areSeparate = areSeparate
        }
    }

    private static func throughServer(
        _ kind: ObserversProgram.Kind, _ number: Observers, _ isRoundTrip: Bool, _ conditions: BenchmarkConditions
    ) throws -> DistributedSubject {
        let poster = try DistributedPoster(timeout: conditions.timeout)
        do {
            let observers = try ObserverProcesses(
                kind, number.count, areSeparate: number.areSeparate, path: poster.directory, conditions)
            return DistributedSubject(observers, isRoundTrip: isRoundTrip, post: poster.post, end: poster.end)
        } catch {
            poster.end()
            throw error
        }
    }

    private static func throughRelay(
        _ number: Observers, _ isRoundTrip: Bool, _ conditions: BenchmarkConditions
    ) throws -> DistributedSubject {
        let poster = try RelayPoster()
        do {
            let observers = try ObserverProcesses(
                .plain, number.count, areSeparate: number.areSeparate, path: poster.path, conditions)
            let subject = DistributedSubject(observers, isRoundTrip: isRoundTrip, post: poster.post, end: poster.end)
            do {
                try poster.start(readers: number.count, core: conditions.targetCore)
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
