/// What one contender of a workload cost.
package struct ContenderResult: Sendable, Hashable, Encodable {
    package var name: String
    /// The figure of each round, for one operation.
    package var figures: [Double]

    init(name: String, samples: [Sample]) {
        self.name = name
        figures = samples.map(\.figure)
    }

    package var median: Double { Quartiles(figures).median }
}
