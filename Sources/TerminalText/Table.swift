/// Text in columns that are aligned by display width.
///
/// A column is as wide as its widest cell, within its limits. Columns that wrap share what the others leave of a line.
/// Words are not broken. Cells that wrap, and headings, may have several lines.
package struct Table: Sendable {
    package struct Column: Sendable {
        /// Lines are separated by newlines.
        fileprivate var heading: String
        /// Adjacent columns of the same group have its title above their headings.
        fileprivate var group: String?
        fileprivate var alignment = TextAlignment.leading
        /// Longer cells are shortened.
        fileprivate var width = 0...Int.max
        fileprivate var wraps = false

        package static func text(_ heading: String = "", width: ClosedRange<Int> = 0...Int.max) -> Column {
            Column(heading: heading, width: width)
        }

        package static func number(_ heading: String, group: String? = nil, minimum: Int = 0) -> Column {
            Column(heading: heading, group: group, alignment: .trailing, width: minimum...Int.max)
        }

        package static func wrapped(_ heading: String = "") -> Column { Column(heading: heading, wraps: true) }
    }

    private let columns: [Column]
    private let rows: [[String]]
    private let spacing: Int
    /// Wrapped columns are not made narrower.
    private static let minimumWrap = 16
    /// For each column: the width of its widest cell, within its limits.
    private var widths: [Int]

    /// - Parameter spacing: the number of spaces between columns.
    package init(_ columns: [Column], rows: [[String]] = [], spacing: Int = 2) {
        (self.columns, self.rows, self.spacing) = (columns, rows, spacing)
        widths = columns.map(\.width.lowerBound)
        for row in [columns.map(\.heading)] + rows { fit(row) }
    }

    /// Aligns all columns to the left. The first row is the heading.
    package static func text(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        return Table(Array(repeating: .text(), count: columns), rows: rows).lines().joined(separator: "\n")
    }

    /// Widens the columns for a row that is not in the table.
    package mutating func fit(_ row: [String]) {
        for (column, cell) in row.enumerated() {
            let width = cell.split(separator: "\n").map { DisplayWidth.of(String($0)) }.max() ?? 0
            widths[column] = max(widths[column], min(width, columns[column].width.upperBound))
        }
    }

    package func line(_ row: [String]) -> String { line(row, widths) }

    /// The heading and all rows. If no column wraps, columns that do not fit are in a second table below the first.
    ///
    /// - Parameter width: the maximum width of a line, unless a word or number is wider.
    package func lines(width: Int = .max) -> [String] {
        let end = self.widths.indices.first { $0 > 1 && self.widths[...$0].reduce(spacing * $0, +) > width }
        if let end, !columns.contains(where: \.wraps) {
            return [Array(0..<end), [0] + Array(end..<columns.count)].flatMap { part in
                Table(part.map { columns[$0] }, rows: rows.map { row in part.map { row[$0] } }, spacing: spacing)
                    .lines(width: width)
            }
        }
        let gaps = spacing * (columns.count - 1)
        let rest = zip(columns, self.widths).reduce(width - gaps) { $1.0.wraps ? $0 : $0 - $1.1 }
        let share = max(Self.minimumWrap, rest / max(1, columns.count(where: \.wraps)))
        let fits = width == .max || self.widths.reduce(gaps, +) <= width
        let widths = zip(columns, self.widths).map { $0.wraps && !fits ? min($1, share) : $1 }
        let headings = columns.map { Self.lines(of: $0.heading) }
        let height = headings.map(\.count).max() ?? 0
        let heading = (0..<height).map { row in
            line(headings.map { row < height - $0.count ? "" : $0[row - height + $0.count] }, widths)
        }
        return groups(widths) + (heading.contains { !$0.isEmpty } ? heading : [])
            + rows.flatMap { row in
                let cells = zip(row, zip(columns, widths)).map { cell, column in
                    column.0.wraps
                        ? Self.lines(of: cell).flatMap { WrappedText.lines($0, width: column.1) } : [cell]
                }
                return (0..<(cells.map(\.count).max() ?? 0)).map { number in
                    line(cells.map { number < $0.count ? $0[number] : "" }, widths)
                }
            }
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The titles of groups, aligned to the right end of their columns.
    private func groups(_ widths: [Int]) -> [String] {
        guard columns.contains(where: { $0.group != nil }) else { return [] }
        var (line, end) = ("", -spacing)
        for (column, width) in widths.enumerated() {
            end += spacing + width
            let group = columns[column].group
            guard let group, column + 1 == columns.count || columns[column + 1].group != group else { continue }
            line += DisplayWidth.pad(group, to: end - DisplayWidth.of(line), alignment: .trailing)
        }
        return [line]
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = zip(row, zip(columns, widths)).map { cell, column in
            DisplayWidth.pad(
                DisplayWidth.fit(cell, to: column.0.width.upperBound), to: column.1, alignment: column.0.alignment)
        }
        var line = cells.joined(separator: String(repeating: " ", count: spacing))
        while line.last == " " { line.removeLast() }
        return line
    }
}
