/// Text in lines that are not too long.
enum WrappedText {
    /// Breaks between words, and in a word only where that alone is too long.
    static func lines(_ text: String, width: Int) -> [String] {
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

    /// Breaks at spaces. A word that is too long on its own stays whole: it may be a path, and paths are copied.
    ///
    /// - Parameters:
    ///   - width: of a line, with its indentation.
    ///   - indent: before each line; from the second on two spaces more.
    static func lines(_ text: String, width: Int, indent: String) -> [String] {
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
