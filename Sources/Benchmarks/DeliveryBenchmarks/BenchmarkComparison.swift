/// The figures of two runs beside each other, and which of them differ beyond noise.
///
/// The noise of a row is the root of the sum of the squares of the relative spreads of both runs, and at least 5 %. A
/// row is slower, or faster, if its ratio is beyond the noise, and if it is so too after it was divided by the ratio of
/// the workload's control: the machine may have been slower as a whole.
package struct BenchmarkComparison: Sendable, Hashable, Encodable {
    package enum Verdict: String, Sendable, Hashable, Encodable {
        case same
        case faster
        case slower
        /// One of the runs has no figure, or a figure of zero.
        case notCompared
    }

    package struct Row: Sendable, Hashable, Encodable {
        package var workload: String
        package var contender: String
        package var unit: String
        package var isControl: Bool
        package var before: Double?
        package var now: Double?
        /// Now, divided by before.
        package var ratio: Double?
        /// The part of the figure that is noise: see `BenchmarkComparison`.
        package var noise: Double?
        package var verdict: Verdict
    }

    /// The version of this format.
    package var schema = 1
    package var rows: [Row]
    /// The conditions that differ between the runs, in sentences.
    package var differences: [String]

    /// The least noise of a row.
    static let leastNoise = 0.05

    package init(of report: BenchmarkReport, with earlier: EarlierReport) {
        differences = Self.differences(report, earlier)
        rows = []
        for workload in report.workloads {
            let old = earlier.workloads.first { $0.name == workload.name }?.contenders ?? []
            func ratio(of name: String?) -> Double? {
                guard let now = workload.contenders.first(where: { $0.name == name })?.median,
                    let before = old.first(where: { $0.name == name })?.median, before > 0
                else { return nil }
                return now / before
            }
            let controlRatio = ratio(of: workload.control)
            for contender in workload.contenders {
                let before = old.first { $0.name == contender.name }
                let ratio = ratio(of: contender.name)
                let noise = Self.noise([contender.relativeSpread, before.flatMap(Self.relativeSpread)])
                let isControl = contender.name == workload.control
                rows.append(
                    Row(
                        workload: workload.name, contender: contender.name, unit: workload.unit, isControl: isControl,
                        before: before?.median, now: contender.median, ratio: ratio, noise: ratio.map { _ in noise },
                        verdict: Self.verdict(ratio, control: isControl ? nil : controlRatio, noise: noise)))
            }
            rows += old.filter { old in !workload.contenders.contains { $0.name == old.name } }.map {
                Row(
                    workload: workload.name, contender: $0.name, unit: workload.unit, isControl: false,
                    before: $0.median, verdict: .notCompared)
            }
        }
        for workload in earlier.workloads where !report.workloads.contains(where: { $0.name == workload.name }) {
            rows += workload.contenders.map {
                Row(
                    workload: workload.name, contender: $0.name, unit: workload.unit,
                    isControl: $0.name == workload.control, before: $0.median, verdict: .notCompared)
            }
        }
    }

    /// True if a contender other than a control became slower beyond noise.
    package var hasSlower: Bool { rows.contains { $0.verdict == .slower && !$0.isControl } }

    static func verdict(_ ratio: Double?, control: Double?, noise: Double) -> Verdict {
        guard let ratio, ratio > 0 else { return .notCompared }
        let ratios = [ratio] + (control.map { $0 > 0 ? [ratio / $0] : [] } ?? [])
        if ratios.allSatisfy({ $0 > 1 + noise }) { return .slower }
        if ratios.allSatisfy({ $0 < 1 / (1 + noise) }) { return .faster }
        return .same
    }

    /// - Parameter spreads: relative to the medians.
    static func noise(_ spreads: [Double?]) -> Double {
        max(leastNoise, spreads.reduce(0) { $0 + ($1 ?? 0) * ($1 ?? 0) }.squareRoot())
    }

    private static func relativeSpread(_ contender: EarlierReport.Contender) -> Double? {
        guard let median = contender.median, median > 0 else { return nil }
        return contender.spread.map { $0 / median }
    }

    private static func differences(_ report: BenchmarkReport, _ earlier: EarlierReport) -> [String] {
        var differences: [String] = []
        func compare(_ what: String, _ before: String, _ now: String) {
            if before != now { differences.append("\(what): \(before) before, \(now) now.") }
        }
        func pinned(_ cores: [Int]) -> String {
            cores.isEmpty ? "not pinned" : "pinned to \(cores.map(String.init).joined(separator: ","))"
        }
        compare("The build", earlier.machine.build, report.machine.build)
        compare("The threads", pinned(earlier.pin), pinned(report.pin))
        compare("The run", earlier.quick ? "quick" : "whole", report.isQuick ? "quick" : "whole")
        return differences
    }
}
