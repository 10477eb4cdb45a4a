/// The median of some figures, and their lower and upper quartile.
package struct Quartiles: Sendable, Hashable {
    package var lower: Double
    package var median: Double
    package var upper: Double

    /// Nil if there are no figures. A quartile between two figures is interpolated.
    package init?(_ figures: [Double]) {
        guard !figures.isEmpty else { return nil }
        let sorted = figures.sorted()
        func figure(at share: Double) -> Double {
            let position = share * Double(sorted.count - 1)
            let below = sorted[Int(position)]
            let above = sorted[min(Int(position) + 1, sorted.count - 1)]
            return below + (above - below) * (position - position.rounded(.down))
        }
        (lower, median, upper) = (figure(at: 0.25), figure(at: 0.5), figure(at: 0.75))
    }

    /// The distance between the quartiles.
    package var spread: Double { upper - lower }
}
