internal import Foundation

/// Decides if a machine is too noisy for its figures to be meaningful, and gives the reasons.
package enum BenchmarkNoise {
    /// The highest normal spread of the baseline's rounds, as a part of its median.
    static let mostSpread = 0.2
    /// In nanoseconds. A smaller spread may come from the placement of a loop by the compiler and does not indicate
    /// noise.
    static let leastSpread = 2.0
    /// The highest normal part of all processor time that is stolen.
    static let mostStolen = 0.01
    /// The highest normal part of all processor time that other programs use.
    static let mostOthers = 0.1
    /// The clock of processor times ticks a hundred times a second, so shorter times than this, in seconds, are too
    /// coarse.
    static let leastSeconds = 1.0

    /// The reasons, in sentences; empty if the machine is quiet.
    ///
    /// - Parameters:
    /// - times: the processor times of the run; nil if the system does not report them.
    /// - isPinned: true if the threads were bound to one core or to two.
    package static func findings(
        in workloads: [WorkloadResult], times: ProcessorTimes?, isPinned: Bool
    ) -> [String] {
        var findings: [String] = []
        if let times, times.all >= leastSeconds {
            let stolen = times.stolen / times.all
            if stolen > mostStolen {
                findings.append("The machine below this one took \(percent(stolen)) of the processor time (steal).")
            }
            let others = (times.busy - times.own) / times.all
            if others > mostOthers {
                findings.append("Other programs and the system took \(percent(others)) of the processor time.")
            }
        }
        let spreads: [(name: String, spread: Double)] = workloads.compactMap { workload in
            spread(of: workload).map { (workload.name, $0) }
        }
        let noisy = spreads.filter { $0.spread > mostSpread }
        if !noisy.isEmpty {
            let names = noisy.map { "\($0.name) \(percent($0.spread))" }.joined(separator: ", ")
            findings.append(
                "The same work took times that differ: the middle half of the control's rounds (of all contenders' "
                    + "where there is none) is this part of the median apart: \(names)."
                    + (isPinned ? "" : " Where threads wait for each other, it matters on which cores they run: --pin.")
            )
        }
        return findings
    }

    /// The spread of the baseline, or the median spread of all contenders.
    private static func spread(of workload: WorkloadResult) -> Double? {
        if let control = workload.contenders.first(where: { $0.name == workload.control }) {
            return workload.isTime && (control.spread ?? 0) < leastSpread ? nil : control.relativeSpread
        }
        return Quartiles(workload.contenders.compactMap(\.relativeSpread))?.median
    }

    private static func percent(_ part: Double) -> String { String(format: "%.0f %%", part * 100) }
}
