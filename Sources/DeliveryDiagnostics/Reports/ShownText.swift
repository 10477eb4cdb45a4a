/// Other processes' text, whole, in a line of its own kind: nothing in it ends the line or is obeyed by a terminal.
enum ShownText {
    /// A name as it is, if it is plain to see where it ends; otherwise quoted.
    static func name(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { !needsEscape($0) && $0 != " " && $0 != "\"" }
        return isPlain ? text : quoted(text)
    }

    static func quoted(_ text: String) -> String {
        "\"\(escaped(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")))\""
    }

    /// Escapes as JSON does what is no visible character, so that JSON stays JSON.
    static func escaped(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if needsEscape(scalar) {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: false
        }
    }
}
