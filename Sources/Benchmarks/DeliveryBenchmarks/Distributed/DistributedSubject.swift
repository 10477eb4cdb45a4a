internal import CControl

/// Posts to observers in another process, through a server in a third.
final class DistributedSubject: BenchmarkSubject {
    private let post: () throws -> Void
    private let observers: ObserversProcess
    private let ending: () -> Void
    private let isRoundTrip: Bool

    /// How far the poster may be ahead of the slowest observer: less than waits for it at the server before something
    /// is dropped.
    static let window = 4096

    /// - Parameters:
    ///   - isRoundTrip: whether each is posted when the one before it was handled by all, and timed.
    ///   - post: posts one.
    ///   - end: what is done when the observers have ended.
    init(
        _ observers: ObserversProcess, isRoundTrip: Bool, post: @escaping () throws -> Void,
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
            // Not each time: it looks at each observer's count.
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
