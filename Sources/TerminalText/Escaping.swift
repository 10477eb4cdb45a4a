/// Makes foreign text safe to print: limits its length and escapes control characters, which a terminal might
/// interpret.
package enum Excerpt {
    package static func of(_ text: String, around position: Int = 0, length: Int = 120) -> String {
        // Fast path for most texts.
        let isPlain = position == 0 && text.utf8.count <= length && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        if isPlain { return text }
        let start = max(0, position - length / 2)
        let window = text.dropFirst(start)
        let shown = window.prefix(length).unicodeScalars.map { $0.isPrintable ? "\($0)" : $0.escaped(asASCII: true) }
        return (start > 0 ? "…" : "") + shown.joined() + (window.dropFirst(length).isEmpty ? "" : "…")
    }
}

/// Makes text of other processes safe to print on one line without shortening it: characters that end the line or that
/// a terminal might interpret are escaped.
package enum ShownText {
    /// The name itself if it contains no spaces or special characters, otherwise quoted.
    package static func name(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.isPrintable && $0 != " " && $0 != "\"" }
        return isPlain ? text : quoted(text)
    }

    package static func quoted(_ text: String) -> String {
        "\"\(escaped(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")))\""
    }

    /// Escapes what `escaped` does except newlines.
    package static func lines(_ text: String) -> String {
        if isPlain(text) { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
            .joined(separator: "\n")
    }

    /// True for most texts, which need no change.
    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } }

    /// Escapes invisible characters with JSON's syntax, so that JSON stays valid.
    package static func escaped(_ text: String) -> String {
        if isPlain(text) { return text }
        return text.unicodeScalars.map { scalar in
            scalar.isPrintable
                ? "\(scalar)" : String(scalar).utf16.map { "\\u" + padded(String($0, radix: 16), to: 4) }.joined()
        }.joined()
    }
}

/// Quotes text for commands that are printed to be pasted into a POSIX shell.
package enum ShellText {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%".utf8)

    /// The text as one word: as it is if the shell reads it so, otherwise in quotes. Text with control characters is in
    /// octal, so that the command is one line; newlines at its end are lost.
    package static func word(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(plain.contains) { return text }
        if text.unicodeScalars.allSatisfy(\.isPrintable) { return "'\(text.replacing("'", with: "'\\''"))'" }
        let octal = text.utf8.map { "\\" + padded(String($0, radix: 8), to: 3) }
        return "\"$(printf '\(octal.joined())')\""
    }

    /// An option and its value: `--name Saved`. A value that begins with a dash would be read as an option.
    package static func option(_ name: String, _ value: String) -> String {
        value.hasPrefix("-") ? word("\(name)=\(value)") : "\(name) \(word(value))"
    }

    /// A file's path as one word, which no program reads as an option.
    package static func path(_ path: String) -> String {
        word(path.hasPrefix("-") && path != "-" ? "./\(path)" : path)
    }
}

/// Escapes text for XML 1.0 elements and attributes.
package enum XMLText {
    /// Characters that XML 1.0 cannot represent are written as Swift escapes.
    package static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            // Some terminals interpret the latter.
            case "\r", "\u{7F}"..."\u{9F}": "&#\(scalar.value);"
            case "\t", "\n", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}": "\(scalar)"
            default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }.joined()
    }
}

private func padded(_ digits: String, to count: Int) -> String {
    String(repeating: "0", count: count - digits.count) + digits
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
