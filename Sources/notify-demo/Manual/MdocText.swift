/// Formats text as mdoc and escapes everything that mdoc would interpret.
enum MdocText {
    /// The longest source line that mandoc's lint accepts.
    private static let longestLine = 80
    /// The longest literal line that fits between the margins on 80 columns.
    private static let widestLiteral = 72

    /// A paragraph as source lines. mdoc expects each sentence to begin on a new line.
    static func filled(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        func end() {
            if !line.isEmpty { lines.append(line) }
            line = ""
        }
        for word in text.split(whereSeparator: \.isWhitespace) {
            // A word with a hyphen is usually a name, which must not be hyphenated at the end of a line.
            let escaped = (word.contains("-") ? "\\%" : "") + escaped(String(word))
            if line.utf8.count + 1 + escaped.utf8.count > longestLine { end() }
            line += line.isEmpty ? guarded(escaped) : " \(escaped)"
            if word.last(where: { !")\"'".contains($0) }).map({ ".!?".contains($0) }) == true { end() }
        }
        end()
        return lines
    }

    /// A literal line. A line that is too long is continued on the next one; a command is broken where the shell allows
    /// it.
    static func literal(_ text: String, isCommand: Bool) -> [String] {
        guard text.count > widestLiteral else { return [guarded(escaped(text))] }
        let fits = text.prefix(widestLiteral - 2)
        let pipe = isCommand ? fits.ranges(of: " | ").last.map { text.index(before: $0.upperBound) } : nil
        // The break must not be within the line's leading blanks.
        let begin = text.firstIndex { $0 != " " } ?? text.startIndex
        guard let blank = pipe ?? fits.lastIndex(of: " "), blank > begin else { return [guarded(escaped(text))] }
        let continued = isCommand && pipe == nil ? " \\" : ""
        let rest = text[text.index(after: blank)...].drop { $0 == " " }
        return [guarded(escaped(text[..<blank] + continued))] + literal("    \(rest)", isCommand: isCommand)
    }

    /// The argument of a macro.
    static func argument(_ text: String) -> String {
        text.split(separator: " ").map { word in
            // A short capitalised word may be the name of a macro.
            word.count <= 3 && word.first?.isUppercase == true ? "\\&\(escaped(String(word)))" : escaped(String(word))
        }.joined(separator: " ")
    }

    /// The text after the page's name: without an initial capital and a full stop.
    static func nameDescription(_ text: String) -> String {
        var text = text
        if text.hasSuffix(".") { text.removeLast() }
        let first = text.prefix { !$0.isWhitespace }
        if first.dropFirst().allSatisfy(\.isLowercase) { text = first.lowercased() + text.dropFirst(first.count) }
        return argument(text)
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            // A hyphen to type, instead of a typographic one.
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "\"": escaped += "\\(dq"
            case " "..."~": escaped.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            }
        }
        return escaped
    }

    /// Protects a line that begins with a dot, which would be a macro.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") ? "\\&\(line)" : line
    }
}
