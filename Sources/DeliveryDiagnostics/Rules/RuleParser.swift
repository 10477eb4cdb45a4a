internal import Foundation
internal import TerminalText

/// Reads a rule: compares its words with each way to write one. See `RuleForm`.
package enum RuleParser {
    fileprivate struct Word {
        /// As it is written, and without quotes.
        let written, text: String
        /// Of its first character, from 1.
        let column: Int

        /// A word in quotes is always a name.
        var isQuoted: Bool { written.hasPrefix("\"") }
    }

    /// The words in capitals in an error.
    private static let meanings = [
        "NAME": "the name of a notification", "OTHER": "the name of another notification",
        "PLACE": "main, or thread and its name or number", "TIME": "a duration with its unit, such as 16 ms",
        "COUNT": "a number", "KIND": "a kind of finding (see 'notify-demo diagnose --kinds')",
    ]

    /// Reads the rule of a command's option.
    ///
    /// - Throws: `RuleError`.
    package static func rule(argument text: String, option: String) throws(RuleError) -> Rule {
        let source = "\(option) \(ShownText.quoted(text))"
        if let rule = try rule(text, source: source) { return rule }
        throw RuleError(source: source, column: nil, problem: "the rule is empty.")
    }

    /// - Returns: nil if there are no words.
    static func rule(
        _ text: some StringProtocol, source: String, origin: Rule.Origin? = nil
    ) throws(RuleError) -> Rule? {
        let words = try words(of: String(text), source: source)
        guard let last = words.last else { return nil }
        let description = words.map(\.written).joined(separator: " ")
        /// The most words that fit a way, and what such ways have next; nil is the end.
        var (most, expected): (Int, [String?]) = (0, [])
        for (form, writing) in RuleForm.writings {
            var (rule, fitting, next) = (Rule(form, description: description, origin: origin), 0, writing[...])
            while let word = next.first, let count = rule.take(word, words[fitting...]) {
                fitting += count
                next.removeFirst()
            }
            if next.isEmpty, fitting == words.count { return rule }
            if fitting > most { (most, expected) = (fitting, []) }
            if fitting == most, !expected.contains(next.first) { expected.append(next.first) }
        }
        let found = most < words.count ? words[most] : nil
        throw RuleError(
            source: source, column: found?.column ?? last.column + last.written.count,
            problem: problem(found?.text, expected))
    }

    private static func problem(_ found: String?, _ expected: [String?]) -> String {
        let all = expected.map { word in
            word.map { meanings[$0] ?? "\"\($0)\"" } ?? "the end of the rule"
        }
        let list = (all.dropLast(2) + [all.suffix(2).joined(separator: " or ")]).joined(separator: ", ")
        let words = expected.compactMap(\.self).flatMap { word in
            word == "KIND"
                ? Detector.names : word == "PLACE" ? ["main", "thread"] : meanings[word] == nil ? [word] : []
        }
        let nearest = found.flatMap { Suggestion.nearest(to: $0, among: words) }
        let advice = expected.contains("observed") ? " A name that contains spaces is written in quotes." : ""
        return "expected \(list), found \(found.map { "\"\(Excerpt.of($0))\"" } ?? "the end of the rule")."
            + (nearest.map { " Did you mean \"\($0)\"?" } ?? advice)
    }

    /// Splits a line at spaces. A word in double quotes may contain spaces and has JSON's escapes. A word that begins
    /// with `#` begins a comment.
    private static func words(of line: String, source: String) throws(RuleError) -> [Word] {
        var words: [Word] = []
        for match in line.matches(of: #/"(?:[^"\\]|\\.)*"(?=\s|$)|\S+/#) {
            let written = String(match.output)
            if written.hasPrefix("#") { break }
            let column = line.distance(from: line.startIndex, to: match.range.lowerBound) + 1
            let text =
                written.hasPrefix("\"") ? try? JSONDecoder().decode(String.self, from: Data(written.utf8)) : written
            guard let text else {
                let problem = "the name in quotes is not valid. Write it as a string of JSON, with a space after it."
                throw RuleError(source: source, column: column, problem: problem)
            }
            words.append(Word(written: written, text: text, column: column))
        }
        return words
    }
}

extension Rule {
    /// Takes a word of its form, or what that stands for, from the beginning of some words.
    ///
    /// - Returns: how many words it takes; nil if they do not fit.
    fileprivate mutating func take(_ part: String, _ words: ArraySlice<RuleParser.Word>) -> Int? {
        guard let word = words.first else { return nil }
        switch part {
        case "NAME", "OTHER":
            let isBeginning = words.startIndex == 0 && RuleForm.beginnings.contains(word.text.lowercased())
            guard word.isQuoted || !isBeginning && !word.text.contains("\""), !word.text.isEmpty,
                !names.contains(word.text)
            else { return nil }
            names.append(word.text)
        case "PLACE":
            if word.text == "main" {
                place = .main
            } else if word.text == "thread", let name = words.dropFirst().first {
                place = .thread(name.text)
                return 2
            } else {
                return nil
            }
        case "TIME":
            // The unit may be a word of its own.
            for count in [2, 1] where count <= words.count {
                guard let time = ElapsedTime(words.prefix(count).map(\.text).joined(separator: " ")) else { continue }
                self.time = time
                return count
            }
            return nil
        case "COUNT":
            guard let number = Int(word.text), number >= 0 else { return nil }
            count = number
        case "KIND":
            guard Detector.names.contains(word.text) else { return nil }
            kind = word.text
        default: return word.written == part ? 1 : nil
        }
        return 1
    }
}
