/// The figures of a run beside those of an earlier one, and which of them differ beyond noise.
///
/// The noise of a row is the root of the sum of the squares of the relative spreads before and now, and at least 5 %. A
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
    private static let leastNoise = 0.05

    package init(of report: BenchmarkReport, with earlier: BenchmarkReport) {
        differences = Self.differences(earlier, report)
        rows = []
        var seen: Set<String> = []
        for workload in report.workloads + earlier.workloads where seen.insert(workload.name).inserted {
            let now = report.workloads.first { $0.name == workload.name }?.contenders ?? []
            let before = earlier.workloads.first { $0.name == workload.name }?.contenders ?? []
            let controlRatio = workload.control.flatMap { Self.ratio(of: $0, now, before) }
            var names: Set<String> = []
            for contender in now + before where names.insert(contender.name).inserted {
                let isControl = contender.name == workload.control
                let results = [now, before].map { $0.first { $0.name == contender.name } }
                let ratio = Self.ratio(of: contender.name, now, before)
                let spreads = results.map { $0?.relativeSpread ?? 0 }
                let noise = max(Self.leastNoise, spreads.reduce(0) { $0 + $1 * $1 }.squareRoot())
                rows.append(
                    Row(
                        workload: workload.name, contender: contender.name, unit: workload.unit, isControl: isControl,
                        before: results[1]?.median, now: results[0]?.median, ratio: ratio,
                        noise: ratio.map { _ in noise },
                        verdict: Self.verdict(ratio, control: isControl ? nil : controlRatio, noise: noise)))
            }
        }
    }

    /// True if a contender other than a control became slower beyond noise.
    package var hasSlower: Bool { rows.contains { $0.verdict == .slower && !$0.isControl } }

    private static func ratio(of name: String, _ now: [ContenderResult], _ before: [ContenderResult]) -> Double? {
        guard let now = now.first(where: { $0.name == name })?.median,
            let before = before.first(where: { $0.name == name })?.median, before > 0
        else { return nil }
        return now / before
    }

    private static func verdict(_ ratio: Double?, control: Double?, noise: Double) -> Verdict {
        guard let ratio, ratio > 0 else { return .notCompared }
        let ratios = [ratio, control.map { $0 > 0 ? ratio / $0 : ratio } ?? ratio]
        if ratios.allSatisfy({ $0 > 1 + noise }) { return .slower }
        return ratios.allSatisfy { $0 < 1 / (1 + noise) } ? .faster : .same
    }

    private static func differences(_ before: BenchmarkReport, _ now: BenchmarkReport) -> [String] {
        [
            ("The build", before.machine.build, now.machine.build),
            ("The cores", "\(before.machine.cores)", "\(now.machine.cores)"),
            ("The run", before.isQuick ? "quick" : "whole", now.isQuick ? "quick" : "whole"),
        ].filter { $0.1 != $0.2 }.map { "\($0.0): \($0.1) before, \($0.2) now." }
    }
}
