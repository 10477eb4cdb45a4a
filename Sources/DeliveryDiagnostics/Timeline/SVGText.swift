/// Numbers in the format of SVG.
enum SVGText {
    /// At most one decimal.
    static func number(_ value: Double) -> String {
        let tenths = Int((max(-1e9, min(1e9, value)) * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)"
    }
}
