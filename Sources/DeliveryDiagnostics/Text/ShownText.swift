internal import DeliveryRecording

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
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == UInt8(ascii: "\n") }) { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
            .joined(separator: "\n")
    }

    /// Escapes invisible characters with JSON's syntax, so that JSON stays valid.
    package static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar.isPrintable {
                shown.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
    }
}
