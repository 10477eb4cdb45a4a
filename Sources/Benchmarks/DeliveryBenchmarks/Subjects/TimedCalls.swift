internal import Dispatch

/// Times each call of an operation that is complete when the call returns.
final class TimedCalls: BenchmarkSubject {
    private let perform: () throws -> Void
    private let ending: () throws -> Void
    private let arrivals: Arrivals

    /// - Parameters:
    ///   - arrivals: each call counts one arrival.
    ///   - perform: performs one call.
    ///   - end: ends the threads.
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
        // The last notification was handled before its call returned, so this does not block.
        try arrivals.wait(timeout: .zero)
        try arrivals.check(operations)
        return Sample(operations: operations, total: Double(last - begun), latencies: latencies)
    }

    func end() throws {
        try ending()
    }
}
