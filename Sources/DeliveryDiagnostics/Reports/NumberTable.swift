/// Formats rows of numbers with a label. The numbers come first, so that long labels do not break the columns.
enum NumberTable {
    /// - Parameters:
    /// - headings: the headings of the numbers and of the labels.
    /// - width: the maximum length of a line. Labels are wrapped, numbers are not.
    static func text(headings: [String], rows: [(numbers: [Int], label: String)], width: Int) -> [String] {
        let cells = rows.map { row in row.numbers.map { $0 == 0 ? "-" : "\($0)" } }
        // Each word of a heading is on its own line.
        let headingWords = headings.map { $0.split(separator: " ").map(String.init) }
        let numbers = headings.count - 1
        let widths = (0..<numbers).map { column in
            max(headingWords[column].map(\.count).max() ?? 0, cells.map { $0[column].count }.max() ?? 0)
        }
        let height = headingWords.prefix(numbers).map(\.count).max() ?? 1
        var text = (0..<height).map { line in
            let heading = (0..<numbers).map { column in
                let words = headingWords[column]
                let wordIndex = line - (height - words.count)
                return padded(wordIndex < 0 ? "" : words[wordIndex], widths[column])
            }.joined(separator: "  ")
            return line == height - 1 ? heading + "  " + headings[numbers] : heading
        }
        let indent = widths.reduce(0) { $0 + $1 + 2 }
        for (row, cells) in zip(rows, cells) {
            let numbers = zip(cells, widths).map { padded($0, $1) }.joined(separator: "  ")
            // A word that does not fit beside the numbers starts further to the left.
            let room = width == .max ? .max : max(width - indent, 24)
            let label = WrappedText.lines(row.label, width: room, indent: "")
            text.append(numbers + "  " + (label.first ?? ""))
            text += label.dropFirst().map { line in
                let words = line.drop { $0 == " " }
                return String(repeating: " ", count: max(2, min(indent + 2, width - words.count))) + words
            }
        }
        return text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
