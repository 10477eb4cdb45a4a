package import DeliveryDiagnostics

/// What one contender of a workload cost.
package struct ContenderResult: Sendable, Hashable, Encodable {
    package var name: String
    /// How many a round had.
    package var operations: Int
    /// What one operation cost in each round, in the workload's unit.
    package var figures: [Double]
    /// The middle of the figures; nil if there are none.
    package var median: Double?
    /// The distance between the figures' quartiles; nil of one figure, which does not tell.
    package var spread: Double?
    package var least: Double?
    package var most: Double?
    /// How long each operation of all rounds took, where the workload is about that.
    package var latency: Distribution?
    /// The median over the control's; nil if the workload has no control, or it costs nothing.
    package var ratioToControl: Double?
    /// The median over that of the contender that costs least, the control apart; nil if that costs nothing.
    package var ratioToBest: Double?
    /// Why it had no further turns.
    package var problem: String?

    init(
        name: String, operations: Int, figures: [Double], latency: Distribution? = nil, problem: String? = nil
    ) {
        self.name = name
        self.operations = operations
        self.figures = figures
        self.latency = latency
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
