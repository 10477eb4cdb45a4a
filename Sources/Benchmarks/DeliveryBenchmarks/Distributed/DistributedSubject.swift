internal import CControl

/// Posts to observers in other processes, through a server.
final class DistributedSubject: BenchmarkSubject {
    private let post: () throws -> Void
    private let observers: ObserverProcesses
    private let ending: () -> Void
    private let isRoundTrip: Bool

    /// The highest number of posts that the slowest observer may be behind. It is lower than the number of
    /// notifications that the server keeps for an observer before it drops some.
    static let window = 4096

    /// - Parameters:
    ///   - isRoundTrip: true if each post waits until all observers have handled the one before, and is timed.
    ///   - post: posts one notification.
    ///   - end: called after the observers have ended.
    init(
        _ observers: ObserverProcesses, isRoundTrip: Bool, post: @escaping () throws -> Void,
        end: @escaping () -> Void
    ) {
        self.observers = observers
        self.isRoundTrip = isRoundTrip
        self.post = post
        ending = end
    }

    func measure(_ operations: Int) throws -> Sample {
        isRoundTrip ? try measureRoundTrips(operations) : try measurePosts(operations)
    }

    private func measurePosts(_ operations: Int) throws -> Sample {
        let before = Int(observers.expected)
        observers.expect(operations)
        let begun = CControlNow()
        for number in 0..<operations {
            // Not after each post, because the check reads the counter of each observer.
            if number & 255 == 255, number >= Self.window {
                try observers.waitForEach(UInt64(before + number - Self.window + 256))
            }
            try post()
        }
        return Sample(operations: operations, total: Double(try observers.waitForAll() - begun))
    }

    private func measureRoundTrips(_ operations: Int) throws -> Sample {
        var latencies: [UInt64] = []
        latencies.reserveCapacity(operations)
        for _ in 0..<operations {
            observers.expect(1)
            let begun = CControlNow()
            try post()
            latencies.append(UInt64(try observers.waitForAll() - begun))
        }
        return Sample(operations: operations, total: Double(latencies.reduce(0, +)), latencies: latencies)
    }

    func end() {
        observers.end()
        ending()
    }
}
