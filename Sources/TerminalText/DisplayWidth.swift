package enum TextAlignment: Sendable {
    case leading
    case trailing
}

/// The number of terminal columns that text occupies.
package enum DisplayWidth {
    /// Never less than a terminal uses. For joined symbols it may be more. Sequences that set a color have no width.
    package static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x1B }) { return text.utf8.count }
        let shown = text.utf8.contains(0x1B) ? text.replacing(#/\x1B\[[\d;]*m/#, with: "") : text
        return shown.reduce(0) { $0 + of($1) }
    }

    private static func of(_ character: Character) -> Int { character.unicodeScalars.reduce(0) { $0 + of($1) } }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        // The variation selector U+FE0F turns the preceding symbol into a wide picture.
        if scalar.value < 0x300 || scalar.value == 0xFE0F { return 1 }
        if [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory) { return 0 }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// East Asian scripts and their punctuation, and pictographs.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F000...0x1FAFF,
        0x20000...0x3FFFD,
    ]

    /// The beginning of the text with an ellipsis, if the text is too wide.
    package static func fit(_ text: String, to width: Int, ellipsis: String = "…") -> String {
        guard of(text) > width else { return text }
        let room = width - of(ellipsis)
        guard room >= 0 else { return String(ellipsis.prefix(max(0, width))) }
        var used = 0
        return text.prefix {
            used += of($0)
            return used <= room
        } + ellipsis
    }

    /// Padded with spaces, if the text is narrower.
    package static func pad(_ text: String, to width: Int, alignment: TextAlignment = .leading) -> String {
        let padding = String(repeating: " ", count: max(0, width - of(text)))
        return alignment == .leading ? text + padding : padding + text
    }
}

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
