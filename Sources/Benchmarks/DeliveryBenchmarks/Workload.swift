/// One operation, measured for several contenders.
package struct Workload: Sendable {
    /// The name on the command line. Workloads that differ only in a number share the part before it: `burst-4`.
    package var name: String
    /// A description of the operation, in one line.
    package var summary: String
    package var unit: BenchmarkUnit
    /// The contenders in their order in the output.
    package var contenders: [Contender]
    /// The baseline: the contender that shows the cost of the machine itself; nil if there is none.
    package var control: String?
    /// The allowed numbers of operations in a round; a range of one number is a fixed size.
    package var operations: ClosedRange<Int>
    /// The same for a quick run.
    package var quickOperations: ClosedRange<Int>

    package init(
        name: String, summary: String, unit: BenchmarkUnit, control: String? = nil,
        operations: ClosedRange<Int> = 100...10_000_000, quickOperations: ClosedRange<Int> = 10...10_000,
        contenders: [Contender]
    ) {
        self.name = name
        self.summary = summary
        self.unit = unit
        self.contenders = contenders
        self.control = control
        self.operations = operations
        self.quickOperations = quickOperations
    }
}
