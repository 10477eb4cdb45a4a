/// The results of all contenders of a workload.
package struct WorkloadResult: Sendable, Hashable, Encodable {
    package var name: String
    package var summary: String
    package var unit: String
    package var control: String?
    /// The contender that costs least, without the baseline.
    package var best: String?
    package var contenders: [ContenderResult]
    /// The name without its number.
    let family: String
    private let kind: BenchmarkUnit

    private enum CodingKeys: CodingKey {
        case name, summary, unit, control, best, contenders
    }

    init(_ workload: Workload, _ results: [ContenderResult]) {
        name = workload.name
        family = workload.family
        summary = workload.summary
        kind = workload.unit
        unit = kind.description
        control = workload.control
        contenders = results
        let controlMedian = results.first { $0.name == workload.control }?.median
        let peers = results.filter { $0.name != workload.control }
        let best = peers.filter { $0.median != nil }.min { ($0.median ?? 0) < ($1.median ?? 0) }
        self.best = best?.name
        for index in contenders.indices {
            contenders[index].ratioToControl = Self.ratio(contenders[index].median, controlMedian)
            if contenders[index].name != control {
                contenders[index].ratioToBest = Self.ratio(contenders[index].median, best?.median)
            }
        }
    }

    var isTime: Bool {
        if case .nanoseconds = kind { true } else { false }
    }

    /// True if an operation can have this cost.
    func isFigure(_ figure: Double) -> Bool { kind.isFigure(figure) }

    private static func ratio(_ figure: Double?, _ reference: Double?) -> Double? {
        guard let figure, let reference, reference > 0 else { return nil }
        return figure / reference
    }
}
