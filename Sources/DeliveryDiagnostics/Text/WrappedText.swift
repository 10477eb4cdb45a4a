/// Wraps text in lines of limited length.
package enum WrappedText {
    /// Breaks between words, and inside a word that is too long for a line.
    package static func lines(_ text: String, width: Int) -> [String] {
        let width = max(1, width)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: true) {
            var word = String(word)
            if !line.isEmpty, line.count + 1 + word.count <= width {
                line += " \(word)"
                continue
            }
            if !line.isEmpty { lines.append(line) }
            while word.count > width {
                lines.append(String(word.prefix(width)))
                word.removeFirst(width)
            }
            line = word
        }
        if !line.isEmpty || lines.isEmpty { lines.append(line) }
        return lines
    }

    /// Breaks at spaces only. A long word, such as a path, stays in one piece so that it can be copied.
    ///
    /// - Parameters:
    /// - width: the maximum length of a line, including its indentation.
    /// - indent: the indentation. Lines after the first have two more spaces.
    package static func lines(_ text: String, width: Int, indent: String) -> [String] {
        guard width != .max else { return [indent + text] }
        var lines: [String] = []
        var line = indent
        var hasWord = false
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if hasWord, line.count + 1 + word.count > width {
                lines.append(line)
                line = indent + "  "
                hasWord = false
                if word.isEmpty { continue }
            }
            line += (hasWord ? " " : "") + word
            hasWord = true
        }
        return lines + [line]
    }
}
