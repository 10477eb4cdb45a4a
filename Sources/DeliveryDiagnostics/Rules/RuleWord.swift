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
        var words: [RuleWord] = []
        let characters = Array(line)
        var next = 0
        while next < characters.count, characters[next] != "#" {
            let begin = next
            if characters[begin].isWhitespace {
                next += 1
            } else if characters[begin] == "\"" {
                next = try end(ofQuote: begin, in: characters)
                guard
                    let text = try? JSONDecoder().decode(String.self, from: Data(String(characters[begin..<next]).utf8))
                else {
                    throw Problem(
                        column: begin + 1,
                        text: "the name in quotes is not valid. Quotes in it are \\\", backslashes \\\\, as in JSON.")
                }
                words.append(RuleWord(text: text, isQuoted: true, column: begin + 1, endColumn: next + 1))
            } else {
                while next < characters.count, !characters[next].isWhitespace { next += 1 }
                let text = String(characters[begin..<next])
                words.append(RuleWord(text: text, isQuoted: false, column: begin + 1, endColumn: next + 1))
            }
        }
        return words
    }

    /// The position after the closing quote.
    private static func end(ofQuote begin: Int, in characters: [Character]) throws(Problem) -> Int {
        var next = begin + 1
        while next < characters.count, characters[next] != "\"" { next += characters[next] == "\\" ? 2 : 1 }
        guard next < characters.count else {
            throw Problem(column: begin + 1, text: "the name has no closing quote.")
        }
        if next + 1 < characters.count, !characters[next + 1].isWhitespace {
            throw Problem(column: next + 2, text: "a space is missing after the closing quote.")
        }
        return next + 1
    }
}
