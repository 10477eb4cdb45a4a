/// A task, measured for several contenders.
package struct Workload: Sendable {
    /// The name on the command line. Workloads that differ only in a number share the part before it: `burst-4`.
    package var name: String
    /// A description of the task, in one line.
    package var summary: String
    /// The unit of the figures: `ns per notification`. A unit that begins with `ns` is a time.
    package var unit: String
    /// The baseline: the contender that shows the cost of the machine itself; nil if there is none.
    package var control: String?
    /// The allowed numbers of operations in a round; a range of one number is a fixed size.
    package var operations: ClosedRange<Int>
    /// The same for a quick run.
    package var quickOperations: ClosedRange<Int>
    /// The contenders in their order in the output.
    package var contenders: [Contender]

    package init(
        name: String, summary: String, unit: String, control: String? = nil,
        operations: ClosedRange<Int> = 100...10_000_000, quickOperations: ClosedRange<Int> = 10...10_000,
        contenders: [Contender]
    ) {
        self.name = name
        self.summary = summary
        self.unit = unit
        self.control = control
        self.operations = operations
        self.quickOperations = quickOperations
        self.contenders = contenders
    }

    /// The name without its number.
    package var family: String {
        guard let dash = name.lastIndex(of: "-") else { return name }
        return name[dash...].dropFirst().first?.isNumber == true ? String(name[..<dash]) : name
    }
}

/// A way to do a workload's task: a closure that prepares it and returns what is measured.
package struct Contender: Sendable {
    /// A short label for a table's row. Contenders with the same name use the same technique.
    package var name: String
    /// Makes the threads and the observers. Called on the main thread before the first round.
    package var make: @Sendable (BenchmarkConditions) throws -> Subject

    package init(_ name: String, make: @escaping @Sendable (BenchmarkConditions) throws -> Subject) {
        self.name = name
        self.make = make
    }
}

/// A contender in use: a run measures it in rounds. The other subjects of the workload exist at the same time, and are
/// idle.
package struct Subject {
    /// Performs a number of operations and returns their cost. Called on the main thread, which it may block and whose
    /// run loop it may run. Returns when all notifications were handled, and throws a `BenchmarkError` if one was not.
    package var measure: (_ operations: Int) throws -> Sample
    /// Ends the threads and removes the observers. Called once, after the last round, even if a round threw.
    package var end: () throws -> Void

    package init(end: @escaping () throws -> Void = {}, measure: @escaping (_ operations: Int) throws -> Sample) {
        self.measure = measure
        self.end = end
    }
}

/// The cost of one round of one contender.
package struct Sample: Sendable, Hashable {
    package var operations: Int
    /// The cost of all operations together, in the workload's unit.
    package var total: Double
    /// The duration of each operation in nanoseconds, if the workload measures latency.
    package var latencies: [UInt64] = []
    /// The processor time of all threads for all operations, in nanoseconds; nil if the workload does not measure it.
    package var processorTime: Double?

    /// The cost of one operation.
    package var figure: Double { total / Double(operations) }

    /// - Throws: `BenchmarkError.noFigure`. Time is never zero, but an amount of memory may be.
    func validate(operations asked: Int, in unit: String) throws(BenchmarkError) {
        if operations != asked { throw .noFigure("of \(operations) operations, and \(asked) were asked for") }
        guard figure.isFinite, figure > 0 || figure == 0 && !unit.hasPrefix("ns ") else { throw .noFigure("\(figure)") }
        if !latencies.isEmpty, latencies.count != operations {
            throw .noFigure("of \(latencies.count) latencies, and \(operations) were measured")
        }
    }
}
