internal import DeliveryDiagnostics
internal import Foundation

extension BenchmarkComparison {
    private static let headings = ["before", "now", "ratio", "noise", ""]

    /// A table for a terminal.
    package func text(width: Int = 80) -> String {
        let columns =
            [Table.Column.text(), .text(width: 12...Int.max)] + Self.headings.dropLast().map { .number($0) } + [.text()]
        return Table(columns, rows: rows.map(Self.cells)).lines(width: width).joined(separator: "\n")
    }

    /// A table to paste into a document.
    package func markdown() -> String {
        func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
        return
            ([row(["", ""] + Self.headings), row(["---", "---", "--:", "--:", "--:", "--:", "---"])]
            + rows.map { row(Self.cells($0)) }).joined(separator: "\n")
    }

    private static func cells(_ row: Row) -> [String] {
        let mark =
            switch row.verdict {
            case .same: ""
            case .faster: "faster"
            case .slower: row.isControl ? "the control is slower" : "SLOWER"
            case .notCompared where row.now == nil: "not measured now"
            case .notCompared: row.before == nil ? "not measured before" : "a figure is zero"
            }
        return [
            row.workload, row.isControl ? "\(row.contender) (control)" : row.contender,
            BenchmarkCells.number(row.before), BenchmarkCells.number(row.now),
            row.ratio.map { String(format: "%.2f", $0) } ?? Quantity.none,
            row.noise.map { String(format: "%.0f %%", $0 * 100) } ?? Quantity.none, mark,
        ]
    }
}
