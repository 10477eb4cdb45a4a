/// The figures of a run beside those of earlier ones, and which of them differ beyond noise.
///
/// The figure of several earlier runs is the median of their medians. Its spread is the largest of one run, or the
/// distance between the medians if that is larger: whole runs may differ more than the rounds of one.
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

    /// - Parameter earlier: at least one; they should be `areAlike`.
    package init(of report: BenchmarkReport, with earlier: [BenchmarkReport]) {
        differences = Self.differences(earlier[0], report)
        rows = []
        var seen: Set<String> = []
        for workload in report.workloads + earlier.flatMap(\.workloads) where seen.insert(workload.name).inserted {
            let now = report.workloads.first { $0.name == workload.name }?.contenders ?? []
            let before = earlier.flatMap(\.workloads).filter { $0.name == workload.name }.flatMap(\.contenders)
            let controlRatio = workload.control.flatMap { Self.ratio(of: $0, now, before) }
            var names: Set<String> = []
            for contender in now + before where names.insert(contender.name).inserted {
                let isControl = contender.name == workload.control
                let ratio = Self.ratio(of: contender.name, now, before)
                let noise = Self.noise(of: contender.name, now, before)
                rows.append(
                    Row(
                        workload: workload.name, contender: contender.name, unit: workload.unit, isControl: isControl,
                        before: Self.figure(of: contender.name, before)?.median,
                        now: Self.figure(of: contender.name, now)?.median, ratio: ratio,
                        noise: ratio.map { _ in noise },
                        verdict: Self.verdict(ratio, control: isControl ? nil : controlRatio, noise: noise)))
            }
        }
    }

    /// True if runs had the same conditions, so that their differences are noise.
    package static func areAlike(_ runs: [BenchmarkReport]) -> Bool {
        runs.allSatisfy { differences(runs[0], $0).isEmpty }
    }

    /// True if a contender other than a control became slower beyond noise.
    package var hasSlower: Bool { rows.contains { $0.verdict == .slower && !$0.isControl } }

    /// A contender's figure in one run or several; nil if no run has one.
    private static func figure(of name: String, _ results: [ContenderResult]) -> Quartiles? {
        let same = results.filter { $0.name == name }
        let medians = same.compactMap(\.median)
        guard var figure = Quartiles(medians), let least = medians.min(), let most = medians.max() else { return nil }
        figure.spread = max(most - least, same.compactMap(\.spread).max() ?? 0)
        return figure
    }

    private static func ratio(of name: String, _ now: [ContenderResult], _ before: [ContenderResult]) -> Double? {
        guard let now = figure(of: name, now), let before = figure(of: name, before), before.median > 0 else {
            return nil
        }
        return now.median / before.median
    }

    private static func noise(of name: String, _ now: [ContenderResult], _ before: [ContenderResult]) -> Double {
        let figures = [now, before].compactMap { figure(of: name, $0) }
        let spreads = figures.map { $0.median > 0 ? $0.spread / $0.median : 0 }
        return max(leastNoise, spreads.reduce(0) { $0 + $1 * $1 }.squareRoot())
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
