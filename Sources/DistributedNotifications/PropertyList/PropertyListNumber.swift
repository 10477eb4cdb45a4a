/// Numbers as text files have them.
enum PropertyListNumber {
    /// The real that is written so: digits, with a point, an exponent and a sign at most. Nil for all else, and for one that is
    /// too large: it would be read as infinity.
    static func real(_ text: String) -> Double? {
        guard text.utf8.contains(where: \.isDigit), text.utf8.allSatisfy({ $0.isDigit || "+-.eE".utf8.contains($0) }),
            let real = Double(text), real.isFinite
        else { return nil }
        return real
    }

    static let integers = "an integer is from \(Int64.min) to \(Int64.max)"
}
