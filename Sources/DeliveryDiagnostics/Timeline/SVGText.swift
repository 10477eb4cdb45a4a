/// Text and numbers as SVG takes them.
enum SVGText {
    /// Escaped for text and attributes. Characters that XML has no way to hold are shown as their numbers.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n": escaped += "\n"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": escaped += scalar.escaped(asASCII: true)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// With one decimal at most.
    static func number(_ value: Double) -> String {
        let tenths = Int((max(-1e9, min(1e9, value)) * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)"
    }
}
