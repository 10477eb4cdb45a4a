/// The median of some figures, and the distance between their quartiles.
struct Quartiles: Hashable {
    var median: Double
    var spread: Double

    /// Nil if there are no figures. A quartile between two figures is interpolated.
    init?(_ figures: [Double]) {
        guard !figures.isEmpty else { return nil }
        let sorted = figures.sorted()
        func figure(at share: Double) -> Double {
            let position = share * Double(sorted.count - 1)
            let below = sorted[Int(position)]
            let above = sorted[min(Int(position) + 1, sorted.count - 1)]
            return below + (above - below) * (position - position.rounded(.down))
        }
        median = figure(at: 0.5)
        spread = figure(at: 0.75) - figure(at: 0.25)
    }
}
