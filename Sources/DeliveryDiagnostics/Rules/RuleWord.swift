internal import Foundation

/// A word of a rule.
struct RuleWord {
    /// Without quotes.
    let text: String
    /// A word in quotes is always a name.
    let isQuoted: Bool
    /// Of its first character, from 1.
    let column: Int
    /// Of the character after it.
    let endColumn: Int

    /// A word that cannot be read, and the reason.
    struct Problem: Error {
        let column: Int
        let text: String
    }

    /// Splits a line at spaces. A word in double quotes may contain spaces and has JSON's escapes. A word that begins
    /// with `#` begins a comment.
    static func words(of line: some StringProtocol) throws(Problem) -> [RuleWord] {
        let line = String(line)
        var words: [RuleWord] = []
        for match in line.matches(of: #/"(?:[^"\\]|\\.)*"|[^\s]+/#) {
            let text = String(match.output)
            if text.hasPrefix("#") { break }
            let column = line.distance(from: line.startIndex, to: match.range.lowerBound) + 1
            let end = column + text.count
            guard text.hasPrefix("\"") else {
                words.append(RuleWord(text: text, isQuoted: false, column: column, endColumn: end))
                continue
            }
            guard text.count > 1, text.hasSuffix("\"") else {
                throw Problem(column: column, text: "the name has no closing quote.")
            }
            guard let name = try? JSONDecoder().decode(String.self, from: Data(text.utf8)) else {
                throw Problem(
                    column: column,
                    text: "the name in quotes is not valid. Quotes in it are \\\", backslashes \\\\, as in JSON.")
            }
            if match.range.upperBound < line.endIndex, !line[match.range.upperBound].isWhitespace {
                throw Problem(column: end, text: "a space is missing after the closing quote.")
            }
            words.append(RuleWord(text: name, isQuoted: true, column: column, endColumn: end))
        }
        return words
    }
}
