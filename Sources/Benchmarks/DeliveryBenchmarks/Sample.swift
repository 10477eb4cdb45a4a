internal import Dispatch

/// The cost of one round of one contender.
package struct Sample: Sendable, Hashable {
    package var operations: Int
    /// The cost of all operations together, in the workload's unit.
    package var total: Double
    /// The duration of each operation in nanoseconds, if the workload measures latency.
    package var latencies: [UInt64]
    /// The processor time of all threads for all operations, in nanoseconds; nil if the workload does not measure it.
    package var processorTime: Double?

    package init(operations: Int, total: Double, latencies: [UInt64] = [], processorTime: Double? = nil) {
        self.operations = operations
        self.total = total
        self.latencies = latencies
        self.processorTime = processorTime
    }

    /// Measures the duration of `body`.
    package static func timing(_ operations: Int, _ body: () throws -> Void) rethrows -> Sample {
        let begun = DispatchTime.now().uptimeNanoseconds
        try body()
        return Sample(operations: operations, total: Double(DispatchTime.now().uptimeNanoseconds - begun))
    }

    /// The cost of one operation.
    package var figure: Double { total / Double(operations) }

    /// - Throws: `BenchmarkError.noFigure`.
    func validate(operations asked: Int, in unit: BenchmarkUnit) throws(BenchmarkError) {
        if operations != asked { throw .noFigure("of \(operations) operations, and \(asked) were asked for") }
        guard unit.isFigure(figure) else { throw .noFigure("\(figure)") }
        if !latencies.isEmpty, latencies.count != operations {
            throw .noFigure("of \(latencies.count) latencies, and \(operations) were measured")
        }
    }
}
