internal import Foundation

/// Whether a machine is too noisy for its figures to tell something, and how that is known.
package enum BenchmarkNoise {
    /// The middle half of a control's rounds may be as far apart as this part of its median.
    static let mostSpread = 0.2
    /// In nanoseconds: what is less may be where the compiler placed a loop, and tells nothing of the machine.
    static let leastSpread = 2.0
    /// The part of all processor time that may be stolen.
    static let mostStolen = 0.01
    /// The part of all processor time that other programs may take.
    static let mostOthers = 0.1
    /// The clock of processor times ticks a hundred times a second: less than this many seconds do not tell.
    static let leastSeconds = 1.0

    /// What was noticed, in sentences; empty if nothing was.
    ///
    /// - Parameters:
    ///   - times: what the processors did meanwhile; nil if the system does not tell.
    ///   - isPinned: whether all threads had cores of their own or one for all.
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
                "The same work took times that differ: the middle half of the control's rounds (of all contenders' where "
                    + "there is none) is this part of the median apart: \(names)."
                    + (isPinned ? "" : " Where threads wait for each other, it matters on which cores they run: --pin.")
            )
        }
        return findings
    }

    /// Of the control, or the middle one of all contenders'.
    private static func spread(of workload: WorkloadResult) -> Double? {
        if let control = workload.contenders.first(where: { $0.name == workload.control }) {
            return workload.isTime && (control.spread ?? 0) < leastSpread ? nil : control.relativeSpread
        }
        return Quartiles(workload.contenders.compactMap(\.relativeSpread))?.median
    }

    private static func percent(_ part: Double) -> String { String(format: "%.0f %%", part * 100) }
}
