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
        if let (first, second) = split(width) { return first.lines(width: width) + second.lines(width: width) }
        let widths = wrappedWidths(width)
        let headings = columns.map { Self.lines(of: $0.heading) }
        let height = headings.map(\.count).max() ?? 0
        let heading = (0..<height).map { row in
            line(headings.map { row < height - $0.count ? "" : $0[row - height + $0.count] }, widths)
        }
        return groups(widths) + (heading.contains { !$0.isEmpty } ? heading : [])
            + rows.flatMap { lines(of: $0, widths, width) }
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Two tables with the first column in both. Columns of a group stay together if there is space.
    private func split(_ width: Int) -> (Table, Table)? {
        guard width != .max, columns.count > 2, !columns.contains(where: \.wraps) else { return nil }
        let fits = (2...columns.count).last { widths.prefix($0).reduce(spacing * ($0 - 1), +) <= width } ?? 2
        guard fits < columns.count else { return nil }
        let end = (2...fits).last { columns[$0].group == nil || columns[$0].group != columns[$0 - 1].group } ?? fits
        func part(_ indices: [Int]) -> Table {
            Table(indices.map { columns[$0] }, rows: rows.map { row in indices.map { row[$0] } }, spacing: spacing)
        }
        return (part(Array(0..<end)), part([0] + Array(end..<columns.count)))
    }

    private func wrappedWidths(_ width: Int) -> [Int] {
        let gaps = spacing * (columns.count - 1)
        guard width != .max, widths.reduce(gaps, +) > width else { return widths }
        let rest = zip(columns, widths).reduce(width - gaps) { $1.0.wraps ? $0 : $0 - $1.1 }
        let share = rest / max(1, columns.count(where: \.wraps))
        return zip(columns, widths).map { $0.wraps ? min($1, max(Self.minimumWrap, share)) : $1 }
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

    private func lines(of row: [String], _ widths: [Int], _ width: Int) -> [String] {
        let cells = row.enumerated().map { column, cell in
            columns[column].wraps
                ? Self.lines(of: cell).flatMap { WrappedText.lines($0, width: widths[column]) } : [cell]
        }
        let last = widths.count - 1
        let indent = widths.dropLast().reduce(0) { $0 + $1 + spacing }
        return (0..<(cells.map(\.count).max() ?? 0)).flatMap { number -> [String] in
            let parts = cells.map { number < $0.count ? $0[number] : "" }
            guard parts.count > last, columns[last].wraps, DisplayWidth.of(parts[last]) > widths[last] else {
                return [line(parts, widths)]
            }
            // A word of the last column that does not fit has a line of its own, which starts further to the left.
            let start = max(2, min(indent, width - DisplayWidth.of(parts[last])))
            return (number == 0 ? [line(parts.dropLast(), widths)] : [])
                + [String(repeating: " ", count: start) + parts[last]]
        }
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        var line = ""
        /// The spaces before the next text.
        var space = 0
        for (column, cell) in row.enumerated() {
            let most = columns[column].width.upperBound
            let text = most == .max ? cell : DisplayWidth.fit(cell, to: most)
            let padding = max(0, widths[column] - DisplayWidth.of(text))
            let isTrailing = columns[column].alignment == .trailing
            if isTrailing { space += padding }
            if !text.isEmpty {
                line += String(repeating: " ", count: space) + text
                space = 0
            }
            space += spacing + (isTrailing ? 0 : padding)
        }
        return line
    }
}
