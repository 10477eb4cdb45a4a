/// Text as mdoc has it, such that no part of it is taken for a request.
enum MdocText {
    /// How long a line of the page's source may be: mandoc's lint has it so.
    private static let longestLine = 80
    /// How much of a line that is shown as it is fits between the margins of 80 columns.
    private static let widestLiteral = 72

    /// A paragraph: each sentence on a line of its own, as mdoc wants it, in lines that are not too long.
    static func filled(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        func end() {
            if !line.isEmpty { lines.append(line) }
            line = ""
        }
        for word in text.split(whereSeparator: \.isWhitespace) {
            // What has a hyphen is a name, mostly, and not to be given another one at the end of a line.
            let escaped = (word.contains("-") ? "\\%" : "") + escaped(String(word))
            if line.utf8.count + 1 + escaped.utf8.count > longestLine { end() }
            line += line.isEmpty ? guarded(escaped) : " \(escaped)"
            if word.last(where: { !")\"'".contains($0) }).map({ ".!?".contains($0) }) == true { end() }
        }
        end()
        return lines
    }

    /// A line that is shown as it is. One that does not fit goes on in the next: a command where the shell allows it.
    static func literal(_ text: String, isCommand: Bool) -> [String] {
        guard text.count > widestLiteral else { return [guarded(escaped(text))] }
        let fits = text.prefix(widestLiteral - 2)
        let pipe = isCommand ? fits.ranges(of: " | ").last.map { text.index(before: $0.upperBound) } : nil
        // Not within the blanks that it begins with.
        let begin = text.firstIndex { $0 != " " } ?? text.startIndex
        guard let blank = pipe ?? fits.lastIndex(of: " "), blank > begin else { return [guarded(escaped(text))] }
        let continued = isCommand && pipe == nil ? " \\" : ""
        let rest = text[text.index(after: blank)...].drop { $0 == " " }
        return [guarded(escaped(text[..<blank] + continued))] + literal("    \(rest)", isCommand: isCommand)
    }

    /// A word of a request's line.
    static func argument(_ text: String) -> String {
        text.split(separator: " ").map { word in
            // A short word may be a request.
            word.count <= 3 && word.first?.isUppercase == true ? "\\&\(escaped(String(word)))" : escaped(String(word))
        }.joined(separator: " ")
    }

    /// What stands after a page's name: without a capital and a full stop.
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
            // A hyphen that is to be typed, not a typographic one.
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

    /// A line that begins with a dot would be a request.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") ? "\\&\(line)" : line
    }
}
