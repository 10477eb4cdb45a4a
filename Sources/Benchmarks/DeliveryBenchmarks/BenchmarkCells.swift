internal import DeliveryDiagnostics
internal import Foundation

/// The text of a contender's figures in a table.
enum BenchmarkCells {
    static let headings = ["median", "spread", "×control", "×best"]
    static let latencyHeadings = ["p50", "p99", "p99.9"]
    static let processorHeading = "processor"

    static func figures(of contender: ContenderResult) -> [String] {
        [
            number(contender.median), percent(contender.relativeSpread), number(contender.ratioToControl),
            number(contender.ratioToBest),
        ]
    }

    static func latencies(of contender: ContenderResult) -> [String] {
        [contender.latency?.p50, contender.latency?.p99, contender.latency?.p999].map(ElapsedTime.cell)
    }

    static func processorTime(of contender: ContenderResult) -> String {
        ElapsedTime.cell(contender.processorTime.map { UInt64($0) })
    }

    /// The name, with a note if the contender is the baseline.
    static func name(of contender: ContenderResult, in workload: WorkloadResult) -> String {
        contender.name == workload.control ? "\(contender.name) (control)" : contender.name
    }

    static func hasLatencies(_ workloads: [WorkloadResult]) -> Bool {
        workloads.contains { workload in workload.contenders.contains { $0.latency != nil } }
    }

    static func hasProcessorTimes(_ workloads: [WorkloadResult]) -> Bool {
        workloads.contains { workload in workload.contenders.contains { $0.processorTime != nil } }
    }

    /// Three significant digits, or all digits before the point if there are more.
    static func number(_ number: Double?) -> String {
        number.map(Quantity.digits) ?? Quantity.none
    }

    private static func percent(_ part: Double?) -> String {
        part.map { String(format: "%.0f %%", $0 * 100) } ?? Quantity.none
    }
}
