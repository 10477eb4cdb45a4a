internal import Dispatch

/// Something that is over when a call returns: each call is timed.
final class TimedCalls: BenchmarkSubject {
    private let perform: () throws -> Void
    private let ending: () throws -> Void
    private let arrivals: Arrivals

    /// - Parameters:
    ///   - arrivals: where each call arrives once.
    ///   - perform: one call.
    ///   - end: what ends its threads.
    init(_ arrivals: Arrivals, perform: @escaping () throws -> Void, end: @escaping () throws -> Void) {
        self.arrivals = arrivals
        self.perform = perform
        ending = end
    }

    func measure(_ operations: Int) throws -> Sample {
        arrivals.expect(operations)
        var latencies: [UInt64] = []
        latencies.reserveCapacity(operations)
        let begun = DispatchTime.now().uptimeNanoseconds
        var last = begun
        for _ in 0..<operations {
            try perform()
            let now = DispatchTime.now().uptimeNanoseconds
            latencies.append(now - last)
            last = now
        }
        // The last has arrived before its call returned, so this does not wait.
        try arrivals.wait(limit: .zero)
        try arrivals.check(operations)
        return Sample(operations: operations, total: Double(last - begun), latencies: latencies)
    }

    func end() throws {
        try ending()
    }
}
