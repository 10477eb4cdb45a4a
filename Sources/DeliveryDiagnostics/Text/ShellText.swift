internal import DeliveryRecording

/// Quotes text for commands that are printed to be pasted into a POSIX shell.
package enum ShellText {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%".utf8)

    /// The text as one word: as it is if the shell reads it so, otherwise in quotes.
    ///
    /// Control characters are escaped, so that the command is one line. The exception are newlines at the end, which a
    /// shell can only read as they are.
    package static func word(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(plain.contains) { return text }
        if text.unicodeScalars.allSatisfy(\.isPrintable) { return "'\(text.replacing("'", with: "'\\''"))'" }
        let newlines = text.utf8.reversed().prefix { $0 == UInt8(ascii: "\n") }.count
        let format = text.utf8.dropLast(newlines).map { byte in
            plain.subtracting("%".utf8).contains(byte)
                ? String(UnicodeScalar(byte)) : "\\" + octal(byte)
        }.joined()
        let end = newlines == 0 ? "" : "'\(String(repeating: "\n", count: newlines))'"
        // An option of printf would begin with a dash.
        return (format.isEmpty ? "" : "\"$(printf -- '\(format)')\"") + end
    }

    /// An option and its value: `--name Saved`. A value that begins with a dash would be read as an option.
    package static func option(_ name: String, _ value: String) -> String {
        value.hasPrefix("-") ? word("\(name)=\(value)") : "\(name) \(word(value))"
    }

    /// A file's path as one word, which no program reads as an option.
    package static func path(_ path: String) -> String {
        word(path.hasPrefix("-") && path != "-" ? "./\(path)" : path)
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return String(repeating: "0", count: 3 - digits.count) + digits
    }
}
