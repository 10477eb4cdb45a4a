internal import CControl

extension Subject {
    /// The highest number of posts that the slowest observer may be behind. It is lower than the number of
    /// notifications that the server keeps for an observer before it drops some.
    private static let window = 4096

    /// Posts as fast as possible: the time until each observer has handled the last notification.
    static func distributedPosts(_ poster: DistributedPoster, _ observers: ObserverProcess) -> Subject {
        Subject(end: end(poster, observers)) { operations in
            let before = observers.expected
            observers.expect(operations)
            let begun = CControlNow()
            for number in 0..<operations {
                // Not after each post, because the check reads the counter of each observer.
                if number & 255 == 255, number >= window {
                    try observers.waitForEach(before + number - window + 256)
                }
                try poster.post()
            }
            return Sample(operations: operations, total: Double(try observers.waitForAll() - begun))
        }
    }

    /// Posts, and waits until all observers have handled that.
    static func distributedRoundTrips(_ poster: DistributedPoster, _ observers: ObserverProcess) -> Subject {
        Subject(end: end(poster, observers)) { operations in
            var latencies: [UInt64] = []
            latencies.reserveCapacity(operations)
            for _ in 0..<operations {
                observers.expect(1)
                let begun = CControlNow()
                try poster.post()
                latencies.append(UInt64(try observers.waitForAll() - begun))
            }
            return Sample(operations: operations, latencies: latencies)
        }
    }

    private static func end(_ poster: DistributedPoster, _ observers: ObserverProcess) -> () -> Void {
        {
            observers.end()
            poster.end()
        }
    }
}
