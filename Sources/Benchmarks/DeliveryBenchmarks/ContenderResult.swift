package import DeliveryDiagnostics

/// The measured cost of one contender of a workload.
package struct ContenderResult: Sendable, Hashable, Encodable {
    package var name: String
    /// The number of operations in a round.
    package var operations: Int
    /// The cost of one operation in each round, in the workload's unit.
    package var figures: [Double]
    /// The median of the figures; nil if there are none.
    package var median: Double?
    /// The distance between the quartiles of the figures; nil for a single figure.
    package var spread: Double?
    package var least: Double?
    package var most: Double?
    /// The duration of each operation of all rounds, if the workload measures latency.
    package var latency: Distribution?
    /// The processor time of all threads for one operation, in nanoseconds: the median of the rounds, if the workload
    /// measures it.
    package var processorTime: Double?
    /// The median divided by the baseline's; nil if the workload has no baseline, or the baseline costs nothing.
    package var ratioToControl: Double?
    /// The median divided by the lowest one, without the baseline's; nil if the lowest is zero.
    package var ratioToBest: Double?
    /// The reason that the contender was not measured further.
    package var problem: String?

    init(
        name: String, operations: Int, figures: [Double], latency: Distribution? = nil,
        processorTime: Double? = nil, problem: String? = nil
    ) {
        self.name = name
        self.operations = operations
        self.figures = figures
        self.latency = latency
        self.processorTime = processorTime
        self.problem = problem
        if let quartiles = Quartiles(figures) {
            median = quartiles.median
            spread = figures.count > 1 ? quartiles.spread : nil
        }
        least = figures.min()
        most = figures.max()
    }

    /// The spread as a part of the median.
    package var relativeSpread: Double? {
        guard let median, let spread, median > 0 else { return nil }
        return spread / median
    }
}
