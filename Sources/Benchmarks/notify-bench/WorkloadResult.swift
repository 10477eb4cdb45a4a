/// The results of all contenders of a workload.
package struct WorkloadResult: Sendable, Hashable, Codable {
    package var name: String
    package var summary: String
    package var unit: String
    package var control: String?
    /// The contender that costs least, without the baseline.
    package var best: String?
    package var contenders: [ContenderResult]

    init(_ workload: Workload, _ results: [ContenderResult]) {
        name = workload.name
        summary = workload.summary
        unit = workload.unit
        control = workload.control
        let controlMedian = results.first { $0.name == workload.control }?.median
        let best = results.filter { $0.name != workload.control && $0.median != nil }
            .min { ($0.median ?? 0) < ($1.median ?? 0) }
        self.best = best?.name
        func ratio(_ figure: Double?, _ reference: Double?) -> Double? {
            guard let figure, let reference, reference > 0 else { return nil }
            return figure / reference
        }
        contenders = results.map { result in
            var result = result
            result.ratioToControl = ratio(result.median, controlMedian)
            if result.name != workload.control { result.ratioToBest = ratio(result.median, best?.median) }
            return result
        }
    }
}

/// The measured cost of one contender of a workload.
package struct ContenderResult: Sendable, Hashable, Codable {
    package struct Latency: Sendable, Hashable, Codable {
        package var p50: UInt64
        package var p99: UInt64
        package var p999: UInt64
    }

    package var name: String
    /// The number of operations in a round.
    package var operations: Int
    /// The cost of one operation in each round, in the workload's unit.
    package var figures: [Double]
    /// The median of the figures; nil if there are none.
    package var median: Double?
    /// The distance between the quartiles of the figures; nil for a single figure.
    package var spread: Double?
    /// Percentiles of the durations of all operations in nanoseconds, if the workload measures latency.
    package var latency: Latency?
    /// The processor time of all threads for one operation, in nanoseconds: the median of the rounds, if the workload
    /// measures it.
    package var processorTime: Double?
    /// The median divided by the baseline's; nil if the workload has no baseline, or the baseline costs nothing.
    package var ratioToControl: Double?
    /// The median divided by the lowest one, without the baseline's; nil if the lowest is zero.
    package var ratioToBest: Double?
    /// The reason that the contender was not measured further.
    package var problem: String?

    init(name: String, operations: Int, samples: [Sample], problem: String? = nil) {
        self.name = name
        self.operations = operations
        self.problem = problem
        figures = samples.map(\.figure)
        median = Quartiles(figures)?.median
        spread = figures.count > 1 ? Quartiles(figures)?.spread : nil
        let latencies = samples.flatMap(\.latencies).sorted()
        if !latencies.isEmpty {
            func percentile(_ perMille: Int) -> UInt64 { latencies[(latencies.count * perMille + 999) / 1000 - 1] }
            latency = Latency(p50: percentile(500), p99: percentile(990), p999: percentile(999))
        }
        processorTime = Quartiles(samples.compactMap { $0.processorTime.map { $0 / Double(operations) } })?.median
    }

    /// The spread as a part of the median.
    package var relativeSpread: Double? {
        guard let median, let spread, median > 0 else { return nil }
        return spread / median
    }
}
