internal import Foundation

/// A word of a rule.
struct RuleWord {
    /// Without quotes.
    let text: String
    /// A word in quotes is always a name.
    let isQuoted: Bool
    /// Of its first character, from 1, and of the character after it.
    let column, endColumn: Int

    /// Why a rule cannot be read, and where.
    struct Problem: Error {
        let column: Int
        let text: String

        init(_ column: Int, _ text: String) { (self.column, self.text) = (column, text) }
    }

    /// Splits a line at spaces. A word in double quotes may contain spaces and has JSON's escapes. A word that begins
    /// with `#` begins a comment.
    static func words(of line: some StringProtocol) throws(Problem) -> [RuleWord] {
        let line = String(line)
        var words: [RuleWord] = []
        for match in line.matches(of: #/"(?:[^"\\]|\\.)*"|[^\s]+/#) {
            var text = String(match.output)
            if text.hasPrefix("#") { break }
            let column = line.distance(from: line.startIndex, to: match.range.lowerBound) + 1
            let (end, isQuoted) = (column + text.count, text.hasPrefix("\""))
            if isQuoted {
                guard text.count > 1, text.hasSuffix("\"") else {
                    throw Problem(column, "the name has no closing quote.")
                }
                guard let name = try? JSONDecoder().decode(String.self, from: Data(text.utf8)) else {
                    let escapes = "Quotes in it are \\\", backslashes \\\\, as in JSON."
                    throw Problem(column, "the name in quotes is not valid. \(escapes)")
                }
                if match.range.upperBound < line.endIndex, !line[match.range.upperBound].isWhitespace {
                    throw Problem(end, "a space is missing after the closing quote.")
                }
                text = name
            }
            words.append(RuleWord(text: text, isQuoted: isQuoted, column: column, endColumn: end))
        }
        return words
    }
}
