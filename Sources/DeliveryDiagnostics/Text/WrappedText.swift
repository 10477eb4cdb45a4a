/// Wraps text in lines of limited display width.
package enum WrappedText {
    /// Breaks at spaces only. A long word, such as a path, stays in one piece so that it can be copied.
    ///
    /// - Parameters:
    ///   - width: the maximum width of a line, including its indentation; `Int.max` means one line.
    ///   - indent: the indentation.
    ///   - hanging: the number of further spaces before all lines but the first.
    package static func lines(_ text: String, width: Int, indent: String = "", hanging: Int = 0) -> [String] {
        guard width != .max else { return [indent + text] }
        let rest = indent + String(repeating: " ", count: hanging)
        var lines: [String] = []
        var (line, used, hasWord) = (indent, DisplayWidth.of(indent), false)
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let length = DisplayWidth.of(String(word))
            if hasWord, used + 1 + length > width {
                lines.append(line)
                (line, used, hasWord) = (rest, rest.count, false)
                if word.isEmpty { continue }
            }
            line += (hasWord ? " " : "") + word
            used += (hasWord ? 1 : 0) + length
            hasWord = true
        }
        return lines + [line]
    }
}
