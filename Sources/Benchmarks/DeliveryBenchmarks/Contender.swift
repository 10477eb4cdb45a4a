/// One way to do what a workload does.
package struct Contender: Sendable {
    /// Short, and the same wherever the same is meant: it is the label of a table's row.
    package var name: String
    /// Makes what is measured: threads, observers. Called on the main thread before the first round.
    package var make: @Sendable (BenchmarkPlaces) throws -> any BenchmarkSubject

    package init(_ name: String, make: @escaping @Sendable (BenchmarkPlaces) throws -> any BenchmarkSubject) {
        self.name = name
        self.make = make
    }
}
