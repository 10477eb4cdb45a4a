internal import DeliveryDiagnostics
internal import Foundation
internal import TerminalText

extension BenchmarkReport {
    /// Tables for a terminal, one for each workload.
    ///
    /// - Parameter width: the longest line; labels are wrapped, numbers are not.
    package func text(width: Int = 80) -> String {
        ([WrappedText.lines(conditions, width: width).joined(separator: "\n")]
            + workloads.map { Self.table(of: $0, width: width) }).joined(separator: "\n\n")
    }

    /// The machine and the settings of the run, in one line.
    private var conditions: String {
        [
            "\(machine.model), \(counted(machine.cores, "core"))" + (machine.load.map { ", load \(number($0))" } ?? ""),
            "\(machine.build) build",
            counted(rounds, "round") + (isQuick ? ", a quick look" : ""),
            "\(number(seconds)) s",
        ].joined(separator: "; ")
    }

    private static func table(of workload: WorkloadResult, width: Int) -> String {
        let hasLatencies = workload.contenders.contains { $0.latency != nil }
        let hasProcessorTimes = workload.contenders.contains { $0.processorTime != nil }
        var columns = [Table.Column.text(width: 12...Int.max)]
        columns += ["median", "spread", "×control", "×best"].map { .number($0) }
        if hasLatencies { columns += ["p50", "p99", "p99.9"].map { .number($0, group: "latency") } }
        if hasProcessorTimes { columns.append(.number("processor")) }
        let rows = workload.contenders.map { contender in
            [label(contender.name, isControl: contender.name == workload.control)]
                + [number(contender.median), percent(contender.relativeSpread)]
                + [number(contender.ratioToControl), number(contender.ratioToBest)]
                + (hasLatencies
                    ? [contender.latency?.p50, contender.latency?.p99, contender.latency?.p999].map(ElapsedTime.cell)
                    : [])
                + (hasProcessorTimes ? [ElapsedTime.cell(contender.processorTime.map { UInt64($0) })] : [])
        }
        let title = WrappedText.lines(
            "\(workload.name): \(workload.summary) (\(workload.unit))", width: width, hanging: 2)
        let table = Table(columns, rows: rows).lines(width: width - 2).map { "  \($0)" }
        let problems = workload.contenders.flatMap { contender in
            contender.problem.map {
                WrappedText.lines("\(contender.name): \($0)", width: width, indent: "  ", hanging: 2)
            } ?? []
        }
        return (title + table + problems).joined(separator: "\n")
    }
}

extension BenchmarkComparison {
    /// A table for a terminal.
    package func text(width: Int = 80) -> String {
        let columns =
            [Table.Column.text(), .text(width: 12...Int.max)]
            + ["before", "now", "ratio", "noise"].map { .number($0) } + [.text()]
        let cells = rows.map { row in
            [
                row.workload, label(row.contender, isControl: row.isControl), number(row.before), number(row.now),
                row.ratio.map { String(format: "%.2f", $0) } ?? Quantity.none, percent(row.noise), Self.mark(of: row),
            ]
        }
        return Table(columns, rows: cells).lines(width: width).joined(separator: "\n")
    }

    private static func mark(of row: Row) -> String {
        switch row.verdict {
        case .same: ""
        case .faster: "faster"
        case .slower: row.isControl ? "the control is slower" : "SLOWER"
        case .notCompared where row.now == nil: "not measured now"
        case .notCompared: row.before == nil ? "not measured before" : "a figure is zero"
        }
    }
}

private func label(_ contender: String, isControl: Bool) -> String {
    isControl ? "\(contender) (control)" : contender
}

/// Three significant digits, or all digits before the point if there are more.
private func number(_ number: Double?) -> String { number.map(Quantity.digits) ?? Quantity.none }

private func percent(_ part: Double?) -> String { part.map { String(format: "%.0f %%", $0 * 100) } ?? Quantity.none }
