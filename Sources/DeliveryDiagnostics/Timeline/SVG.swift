internal import TerminalText

enum SVG {
    struct Box {
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double
    }

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

    static func circle(_ style: String, x: Double, y: Double, radius: Double) -> String {
        "<circle class=\"\(style)\" cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(number(radius))\"/>"
    }

    static func rect(_ style: String, _ box: Box, content: String = "") -> String {
        "<rect class=\"\(style)\" x=\"\(number(box.left))\" y=\"\(number(box.top))\" "
            + "width=\"\(number(box.right - box.left))\" height=\"\(number(box.bottom - box.top))\" rx=\"2\">"
            + "\(content)</rect>"
    }

    static func title(_ text: String) -> String { "<title>\(XMLText.escaped(text))</title>" }
}
