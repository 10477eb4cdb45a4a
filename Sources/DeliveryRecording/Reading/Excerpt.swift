/// Makes foreign text safe to print: limits its length and escapes control characters, which a terminal might
/// interpret.
package enum Excerpt {
    package static func of(_ text: String, around position: Int = 0, length: Int = 120) -> String {
        // Fast path for most texts.
        let isPlain = position == 0 && text.utf8.count <= length && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        if isPlain { return text }
        let start = max(0, position - length / 2)
        var shown = start > 0 ? "…" : ""
        let window = text.dropFirst(start)
        for scalar in window.prefix(length).unicodeScalars {
            if scalar.isPrintable {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += scalar.escaped(asASCII: true)
            }
        }
        if window.dropFirst(length).first != nil { shown += "…" }
        return shown
    }
}

extension Unicode.Scalar {
    /// False if it ends a line, is invisible, or might be interpreted by a terminal.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
