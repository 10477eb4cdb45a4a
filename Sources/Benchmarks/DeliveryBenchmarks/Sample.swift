internal import Dispatch

/// What one round of one contender cost.
package struct Sample: Sendable, Hashable {
    package var operations: Int
    /// What all of them cost together, in the workload's unit.
    package var total: Double
    /// How long each took in nanoseconds, where the workload is about that.
    package var latencies: [UInt64]

    package init(operations: Int, total: Double, latencies: [UInt64] = []) {
        self.operations = operations
        self.total = total
        self.latencies = latencies
    }

    /// Measures how long `body` takes.
    package static func timing(_ operations: Int, _ body: () throws -> Void) rethrows -> Sample {
        let begun = DispatchTime.now().uptimeNanoseconds
        try body()
        return Sample(operations: operations, total: Double(DispatchTime.now().uptimeNanoseconds - begun))
    }

    /// For one operation.
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
