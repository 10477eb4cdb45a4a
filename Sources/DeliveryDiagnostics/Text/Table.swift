/// Text in columns that are aligned by display width.
///
/// A column is as wide as its widest cell, within its limits. Columns that wrap share what the others leave of a line.
/// Words are not broken. Cells that wrap, and headings, may have several lines.
package struct Table: Sendable {
    package struct Column: Sendable {
        package enum Alignment: Sendable {
            case leading
            case trailing
        }

        /// Lines are separated by newlines.
        fileprivate var heading: String
        /// Adjacent columns of the same group have its title above their headings.
        fileprivate var group: String?
        fileprivate var alignment = Alignment.leading
        /// Longer cells are shortened.
        fileprivate var width = 0...Int.max
        /// The share of the remaining line at which cells wrap, relative to other columns; 0 if they do not wrap.
        fileprivate var share = 0

        package static func text(_ heading: String = "", width: ClosedRange<Int> = 0...Int.max) -> Column {
            Column(heading: heading, width: width)
        }

        package static func number(_ heading: String, group: String? = nil, minimum: Int = 0) -> Column {
            Column(heading: heading, group: group, alignment: .trailing, width: minimum...Int.max)
        }

        package static func wrapped(_ heading: String = "", share: Int = 1) -> Column {
            Column(heading: heading, share: share)
        }
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
        self.columns = columns
        self.rows = rows
        self.spacing = spacing
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

    /// The heading and all rows. If no column wraps, columns that do not fit are in a second table below the first.
    ///
    /// - Parameter width: the maximum width of a line, unless a word or number is wider.
    package func lines(width: Int = .max) -> [String] {
        if let (first, second) = split(width) { return first.lines(width: width) + second.lines(width: width) }
        let widths = wrappedWidths(width)
        let cells = columns.map { $0.heading.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
        let height = cells.map(\.count).max() ?? 0
        let headings = (0..<height).map { line in
            self.line(cells.map { line < height - $0.count ? "" : $0[line - height + $0.count] }, widths)
        }
        let hasHeading = headings.contains { !$0.isEmpty }
        return groups(widths) + (hasHeading ? headings : []) + rows.flatMap { lines(of: $0, widths, width) }
    }

    package func line(_ row: [String]) -> String { line(row, widths) }

    /// Both tables have the first column. Columns of a group stay together if there is space.
    private func split(_ width: Int) -> (Table, Table)? {
        guard width != .max, columns.count > 2, columns.allSatisfy({ $0.share == 0 }) else { return nil }
        func widthOfFirst(_ count: Int) -> Int { widths.prefix(count).reduce(spacing * (count - 1), +) }
        let fits = (2...columns.count).last { widthOfFirst($0) <= width } ?? 2
        guard fits < columns.count else { return nil }
        let isBoundary = { columns[$0].group == nil || columns[$0].group != columns[$0 - 1].group }
        let end = (2...fits).last(where: isBoundary) ?? fits
        func part(_ indices: [Int]) -> Table {
            Table(indices.map { columns[$0] }, rows: rows.map { row in indices.map { row[$0] } }, spacing: spacing)
        }
        return (part(Array(0..<end)), part([0] + Array(end..<columns.count)))
    }

    private func wrappedWidths(_ width: Int) -> [Int] {
        let gaps = spacing * (columns.count - 1)
        guard width != .max, widths.reduce(gaps, +) > width else { return widths }
        let rest = zip(columns, widths).reduce(width - gaps) { $1.0.share == 0 ? $0 - $1.1 : $0 }
        let shares = columns.reduce(0) { $0 + $1.share }
        return zip(columns, widths).map { column, natural in
            column.share == 0 ? natural : min(natural, max(Self.minimumWrap, rest * column.share / shares))
        }
    }

    /// The titles of groups, aligned to the right end of their columns.
    private func groups(_ widths: [Int]) -> [String] {
        guard columns.contains(where: { $0.group != nil }) else { return [] }
        var line = ""
        var end = 0
        for (column, width) in widths.enumerated() {
            end += width + (column == 0 ? 0 : spacing)
            guard let group = columns[column].group else { continue }
            if column + 1 < columns.count, columns[column + 1].group == group { continue }
            line += DisplayWidth.pad(group, to: end - DisplayWidth.of(line), alignment: .trailing)
        }
        return [line]
    }

    private func lines(of row: [String], _ widths: [Int], _ width: Int) -> [String] {
        guard columns.contains(where: { $0.share > 0 }) else { return [line(row, widths)] }
        let cells = row.enumerated().map { column, cell in
            columns[column].share == 0
                ? [cell]
                : cell.split(separator: "\n", omittingEmptySubsequences: false)
                    .flatMap { WrappedText.lines(String($0), width: widths[column]) }
        }
        let last = widths.count - 1
        let indent = widths.dropLast().reduce(0) { $0 + $1 + spacing }
        var lines: [String] = []
        var next = [Int](repeating: 0, count: cells.count)
        while cells.indices.contains(where: { next[$0] < cells[$0].count }) {
            let parts = cells.indices.map { next[$0] < cells[$0].count ? cells[$0][next[$0]] : "" }
            // A word of the last column that does not fit has a line of its own, which starts further to the left.
            if parts.count > last, DisplayWidth.of(parts[last]) > widths[last] {
                if next.contains(0) { lines.append(line(Array(parts.dropLast()), widths)) }
                let start = max(2, min(indent, width - DisplayWidth.of(parts[last])))
                lines.append(String(repeating: " ", count: start) + parts[last])
            } else {
                lines.append(line(parts, widths))
            }
            for column in next.indices { next[column] += 1 }
        }
        return lines
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in row.enumerated() {
            let fitting = DisplayWidth.fit(cell, to: columns[column].width.upperBound, ellipsis: "…")
            if column > 0 { line += String(repeating: " ", count: spacing) }
            line += DisplayWidth.pad(fitting, to: widths[column], alignment: columns[column].alignment)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
