internal import Foundation

/// Decides if a machine is too noisy for its figures to be meaningful, and gives the reasons.
enum BenchmarkNoise {
    /// The highest normal spread of the baseline's rounds, as a part of its median.
    private static let mostSpread = 0.2
    /// In nanoseconds. A smaller spread may come from the placement of a loop by the compiler.
    private static let leastSpread = 2.0
    /// The reasons, in sentences; empty if the machine is quiet.
    ///
    /// - Parameter isPinned: true if the threads were bound to one core or to two.
    static func findings(in workloads: [WorkloadResult], isPinned: Bool) -> [String] {
        let noisy = workloads.compactMap { workload in
            spread(of: workload).flatMap { $0 > mostSpread ? "\(workload.name) \(percent($0))" : nil }
        }
        if noisy.isEmpty { return [] }
        return [
            "The same work took times that differ: the middle half of the control's rounds (of all contenders' "
                + "where there is none) is this part of the median apart: \(noisy.joined(separator: ", "))."
                + (isPinned ? "" : " Where threads wait for each other, it matters on which cores they run: --pin.")
        ]
    }

    /// The spread of the baseline, or the median spread of all contenders.
    private static func spread(of workload: WorkloadResult) -> Double? {
        if let control = workload.contenders.first(where: { $0.name == workload.control }) {
            return workload.unit.hasPrefix("ns ") && (control.spread ?? 0) < leastSpread ? nil : control.relativeSpread
        }
        return Quartiles(workload.contenders.compactMap(\.relativeSpread))?.median
    }

    private static func percent(_ part: Double) -> String { String(format: "%.0f %%", part * 100) }
}
