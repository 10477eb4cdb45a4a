/// One implementation of a workload's operation.
package struct Contender: Sendable {
    /// A short label for a table's row. Contenders with the same name use the same technique.
    package var name: String
    /// Creates the subject with its threads and observers. Called on the main thread before the first round.
    package var make: @Sendable (BenchmarkConditions) throws -> any BenchmarkSubject

    package init(_ name: String, make: @escaping @Sendable (BenchmarkConditions) throws -> any BenchmarkSubject) {
        self.name = name
        self.make = make
    }
}
