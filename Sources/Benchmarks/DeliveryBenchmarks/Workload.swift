/// Something whose cost is measured: one operation, done by several contenders.
package struct Workload: Sendable {
    /// What it is called on the command line; those that differ in a number only share what comes before it: `burst-4`.
    package var name: String
    /// What is done, in one line.
    package var summary: String
    package var unit: BenchmarkUnit
    /// In the order in which they are shown.
    package var contenders: [Contender]
    /// Which contender shows what the machine charges, and is no peer of the others; nil if there is none.
    package var control: String?
    /// How many operations a round may have; one number if it must be that.
    package var operations: ClosedRange<Int>
    /// The same for a quick look.
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
