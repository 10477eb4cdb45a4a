/// The middle of some figures and how far the middle half of them spreads.
package struct Quartiles: Sendable, Hashable {
    package var lower: Double
    package var median: Double
    package var upper: Double

    /// Between two figures by the distance from each; of none all are NaN.
    package init(_ figures: [Double]) {
        let sorted = figures.sorted()
        func figure(at share: Double) -> Double {
            guard let last = sorted.last else { return .nan }
            let place = share * Double(sorted.count - 1)
            let below = sorted[Int(place)]
            let above = Int(place) + 1 < sorted.count ? sorted[Int(place) + 1] : last
            return below + (above - below) * (place - place.rounded(.down))
        }
        (lower, median, upper) = (figure(at: 0.25), figure(at: 0.5), figure(at: 0.75))
    }

    /// The distance between the quartiles.
    package var spread: Double { upper - lower }
}
