internal import TerminalText

enum SVG {
    static func number(_ value: Double) -> String {
        let tenths = Int((max(-1e9, min(1e9, value)) * 10).rounded())
        let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return (tenths < 0 ? "-" : "") + (rest == 0 ? "\(whole)" : "\(whole).\(rest)")
    }

    /// `20 40.5`, a point of a path.
    static func point(_ x: Double, _ y: Double) -> String { "\(number(x)) \(number(y))" }

    static func path(_ style: String, _ path: String) -> String { "<path class=\"\(style)\" d=\"\(path)\"/>" }

    static func text(_ text: String, style: String, x: Double, y: Double) -> String {
        "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\">\(XMLText.escaped(text))</text>"
    }

    /// A group that shows a text when one points at it.
    static func group(_ tip: String, _ content: String) -> String {
        "<g><title>\(XMLText.escaped(tip))</title>\(content)</g>"
    }
}
