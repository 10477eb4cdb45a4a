internal import DeliveryRecording
internal import TerminalText

/// Reads a rule word by word, and keeps the ways to write one that its words may be. See `RuleForm`.
package struct RuleParser {
    private let words: [RuleWord]
    /// Where they are read: in `words`, and in each of the ways.
    private var (next, position) = (0, 0)
    private var ways = RuleForm.all.flatMap { form in
        form.writings.map { (form: form, words: $0.split(separator: " ").map(String.init)) }
    }
    /// What has been read. Its form is known at the end.
    private var rule = Rule(.complete)

    /// - Returns: nil if there are no words.
    /// - Throws: `RuleError`.
    static func rule(
        _ text: some StringProtocol, source: String, origin: Rule.Origin? = nil
    ) throws(RuleError) -> Rule? {
        do {
            var parser = RuleParser(words: try RuleWord.words(of: text))
            parser.rule.origin = origin
            return parser.words.isEmpty ? nil : try parser.read()
        } catch {
            throw RuleError(source: source, column: error.column, problem: error.text)
        }
    }

    /// Reads the rule of a command's option.
    ///
    /// - Throws: `RuleError`.
    package static func rule(argument text: String, option: String) throws(RuleError) -> Rule {
        let source = "\(option) \(ShownText.quoted(text))"
        if let rule = try rule(text, source: source) { return rule }
        throw RuleError(source: source, column: nil, problem: "the rule is empty.")
    }

    private init(words: [RuleWord]) { self.words = words }

    private mutating func read() throws(RuleWord.Problem) -> Rule {
        while true {
            let ended = ways.first { $0.words.count == position }
            ways.removeAll { $0.words.count == position }
            if let ended, next == words.count {
                rule.form = ended.form
                return rule
            }
            guard let read = try readChoice() else { throw unexpected(orEnd: ended != nil) }
            ways.removeAll { $0.words[position] != read }
            position += 1
        }
    }

    // MARK: Words

    private var word: RuleWord? { next < words.count ? words[next] : nil }

    /// The words of the ways at this position, and what may be filled in.
    private var choices: (words: [String], filledIn: String?) {
        let all = ways.map { $0.words[position] }.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return (all.filter { !RuleForm.isFilledIn($0) }, all.first(where: RuleForm.isFilledIn))
    }

    /// The next word, if it is one of some words and not in quotes.
    private mutating func take(oneOf choices: [String]) -> String? {
        guard let word, !word.isQuoted, choices.contains(word.text) else { return nil }
        next += 1
        return word.text
    }

    /// Reads the next word of the ways: one of their words, or what is filled in; nil if it is neither.
    private mutating func readChoice() throws(RuleWord.Problem) -> String? {
        let (choices, filledIn) = choices
        if let word = take(oneOf: choices) { return word }
        switch filledIn {
        case "NAME": rule.names.append(try name("the name of a notification"))
        case "OTHER":
            let column = word?.column ?? 0
            rule.names.append(try name("the name of another notification"))
            if rule.names[0] == rule.names[1] {
                throw RuleWord.Problem(column, "a notification cannot come before itself. Name another one.")
            }
        case "PLACE":
            guard let word = take(oneOf: ["main", "thread"]) else {
                throw problem(
                    expected: "\"main\" or \"thread\"", among: ["main", "thread"],
                    otherwise: word.map { "Did you mean \"thread \(Rule.name(Excerpt.of($0.text)))\"?" })
            }
            rule.place = word == "main" ? .main : .thread(try name("the name or the number of a thread"))
        case "TIME": rule.time = try duration()
        case "COUNT":
            guard let word, !word.isQuoted, let number = Int(word.text), number >= 0 else {
                throw problem(expected: "a number")
            }
            (rule.count, next) = (number, next + 1)
        default:
            guard filledIn == "KIND", let name = take(oneOf: Detector.names) else { return nil }
            rule.kind = name
        }
        return filledIn
    }

    private mutating func duration() throws(RuleWord.Problem) -> ElapsedTime {
        // The unit may be a word of its own.
        for count in [2, 1] where next + count <= words.count {
            let text = words[next..<(next + count)].map(\.text).joined(separator: " ")
            guard let time = ElapsedTime(text) else { continue }
            next += count
            return time
        }
        throw problem(
            expected: "a duration with its unit, such as 16 ms", otherwise: "The units are ns, us, ms, s, m, h and d.")
    }

    private mutating func name(_ what: String) throws(RuleWord.Problem) -> String {
        guard let word else { throw problem(expected: what) }
        if word.text.isEmpty { throw RuleWord.Problem(word.column, "the name is empty.") }
        // A quote within a word is a mistake.
        if !word.isQuoted, let quote = word.text.firstIndex(of: "\"") {
            throw RuleWord.Problem(
                word.column + word.text[..<quote].count,
                "there is a quote within the name. Write all of the name in quotes.")
        }
        next += 1
        return word.text
    }

    // MARK: Errors

    /// The error for a word that no way has here.
    private func unexpected(orEnd isEnd: Bool) -> RuleWord.Problem {
        let (choices, isKind) = (choices.words, choices.filledIn == "KIND")
        let expected =
            choices.map { "\"\(phrase($0))\"" } + (isKind ? ["a kind of finding"] : [])
            + (isEnd ? ["the end of the rule"] : [])
        let list = (expected.dropLast(2) + [expected.suffix(2).joined(separator: " or ")]).joined(separator: ", ")
        guard position == 1, let name = rule.names.first else {
            return problem(
                expected: list, among: choices + (isKind ? Detector.names : []),
                otherwise: isKind ? "'notify-demo diagnose --kinds' lists the kinds." : nil)
        }
        // The word before may be the misspelt beginning of another form, and not a name.
        if name.count > 1, let word, !choices.contains(where: { Suggestion.isNear($0, word.text) }),
            let beginning = RuleForm.beginnings.first(where: { Suggestion.isNear($0, name.lowercased()) })
        {
            let advice = "Did you mean \"\(beginning)\" instead of \"\(Excerpt.of(name))\"?"
            return problem(expected: list, otherwise: advice)
        }
        return problem(expected: list, among: choices, otherwise: "A name that contains spaces is written in quotes.")
    }

    /// A word with those that follow it in every way.
    private func phrase(_ word: String) -> String {
        let rests = ways.map { $0.words.dropFirst(position) }.filter { $0.first == word }
        return rests[0].enumerated().prefix { number, word in
            !RuleForm.isFilledIn(word) && rests.allSatisfy { $0.dropFirst(number).first == word }
        }.map(\.element).joined(separator: " ")
    }

    /// - Parameters:
    ///   - choices: correct words, of which the nearest is suggested.
    ///   - advice: a sentence for a word that is near to none of them.
    private func problem(
        expected: String, among choices: [String] = [], otherwise advice: String? = nil
    ) -> RuleWord.Problem {
        let found = word.map { "\"\(Excerpt.of($0.text))\"" } ?? "the end of the rule"
        let nearest = word.flatMap { Suggestion.nearest(to: $0.text, among: choices) }
        let advice = nearest.map { "Did you mean \"\($0)\"?" } ?? advice
        return RuleWord.Problem(
            word?.column ?? words[words.count - 1].endColumn,
            "expected \(expected), found \(found).\(advice.map { " \($0)" } ?? "")")
    }
}
