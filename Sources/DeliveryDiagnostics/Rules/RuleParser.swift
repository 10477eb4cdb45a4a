internal import DeliveryRecording
internal import TerminalText

/// Reads a rule word by word. See `Rule` for the grammar.
package struct RuleParser {
    /// Words that begin other rules than those of a name. A notification with such a name is written in quotes.
    static let beginnings = ["no", "every", "everything", "each", "at"]

    private typealias Problem = RuleWord.Problem

    private let words: [RuleWord]
    private var next = 0

    /// - Returns: nil if there are no words.
    /// - Throws: `RuleError`.
    static func rule(
        _ text: some StringProtocol, source: String, origin: Rule.Origin? = nil
    ) throws(RuleError) -> Rule? {
        do {
            let words = try RuleWord.words(of: text)
            guard !words.isEmpty else { return nil }
            var parser = RuleParser(words)
            let clause = try parser.clause()
            try parser.end()
            return Rule(clause, origin: origin)
        } catch {
            throw RuleError(source: source, column: error.column, problem: error.text)
        }
    }

    /// Reads the rule of a command's option.
    ///
    /// - Throws: `RuleError`.
    package static func rule(argument text: String, option: String) throws(RuleError) -> Rule {
        let source = "\(option) \(ShownText.quoted(text))"
        guard let rule = try rule(text, source: source) else {
            throw RuleError(source: source, column: nil, problem: "the rule is empty.")
        }
        return rule
    }

    private init(_ words: [RuleWord]) { self.words = words }

    // MARK: Clauses

    private mutating func clause() throws(Problem) -> Rule.Clause {
        switch take(Self.beginnings) {
        case "no": return try absence()
        case "every":
            try expect(["post"])
            try expect(["observed"])
            return .observed(nil)
        case "everything":
            try expect(["delivered"])
            return .delivered(nil)
        case "each":
            let first = try name("the name of a notification")
            try expect(["before"])
            return try before(first, isEach: true)
        case "at":
            try expect(["most"])
            let count = try count()
            let name = try name("the name of a notification")
            try expect(["per"])
            try expect(["second"])
            return .atMost(count, of: name)
        default: return try clauseOfName()
        }
    }

    private mutating func clauseOfName() throws(Problem) -> Rule.Clause {
        let name = try name("the name of a notification")
        let choices = ["on", "not", "observed", "delivered", "within", "at", "before"]
        switch take(choices) {
        case "on": return .handlers(of: name, isThere: true, try place())
        case "not":
            try expect(["on"])
            return .handlers(of: name, isThere: false, try place())
        case "observed": return .observed(name)
        case "delivered": return .delivered(name)
        case "within": return .within(try duration(), of: name)
        case "at":
            try expect(["most"])
            let count = try count()
            try expect(["waiting"])
            return .waiting(count, of: name)
        case "before": return try before(name, isEach: false)
        default:
            let expected = Self.list(
                ["on", "not on", "observed", "delivered", "within", "at most", "before"], or: true)
            if let beginning = beginning(likeName: name, before: choices) {
                throw problem(
                    expected: expected, [],
                    otherwise: "Did you mean \"\(beginning)\" instead of \"\(Excerpt.of(name))\"?")
            }
            throw problem(
                expected: expected, choices, otherwise: "A name that contains spaces is written in quotes.")
        }
    }

    private mutating func before(_ first: String, isEach: Bool) throws(Problem) -> Rule.Clause {
        let second = try name("the name of another notification")
        if second == first {
            throw Problem(
                column: words[next - 1].column, text: "a notification cannot come before itself. Name another one.")
        }
        return .before(first: first, second: second, each: isEach, on: take(["on"]) == nil ? nil : try place())
    }

    /// The word that a misspelt word was meant to be, if it was read as a name and the next word is near to none of the
    /// words that follow a name.
    private func beginning(likeName name: String, before choices: [String]) -> String? {
        guard name.count > 1, next < words.count,
            !choices.contains(where: { Suggestion.isNear($0, words[next].text) })
        else { return nil }
        return Self.beginnings.first { Suggestion.isNear($0, name.lowercased()) }
    }

    private mutating func absence() throws(Problem) -> Rule.Clause {
        let kinds = Detector.names
        let subjects = ["handler", "post", "observer", "finding", "problem"]
        switch take(subjects + kinds) {
        case "handler":
            let place = take(["on"]) == nil ? nil : try place()
            return .noHandler(on: place, longerThan: try time(after: place == nil ? ["on", "longer"] : ["longer"]))
        case "post": return .noPost(longerThan: try time(after: ["longer"]))
        case "observer":
            for word in ["left", "at", "exit"] { try expect([word]) }
            return .noObserverLeft
        case "finding": return .noFinding(.all)
        case "problem": return .noFinding(.problems)
        case let word:
            if let word { return .noFinding(.kind(word)) }
            throw problem(
                expected: Self.list(subjects) + " or a kind of finding", subjects + kinds,
                otherwise: "'notify-demo diagnose --kinds' lists the kinds.")
        }
    }

    private mutating func place() throws(Problem) -> Rule.Place {
        switch take(["main", "thread"]) {
        case "main": return .main
        case "thread": return .thread(try name("the name or the number of a thread"))
        default:
            let word = next < words.count ? words[next] : nil
            throw problem(
                expected: "\"main\" or \"thread\"", ["main", "thread"],
                otherwise: word.map { "Did you mean \"thread \(Rule.name(Excerpt.of($0.text)))\"?" })
        }
    }

    /// `longer than TIME`.
    private mutating func time(after words: [String]) throws(Problem) -> ElapsedTime {
        try expect(["longer"], orElse: words)
        try expect(["than"])
        return try duration()
    }

    private mutating func duration() throws(Problem) -> ElapsedTime {
        // The unit may be a word of its own.
        for count in [2, 1] where next + count <= self.words.count {
            let text = self.words[next..<(next + count)].map(\.text).joined(separator: " ")
            guard let time = ElapsedTime(text) else { continue }
            next += count
            return time
        }
        throw problem(
            expected: "a duration with its unit, such as 16 ms", [],
            otherwise: "The units are ns, us, ms, s, m, h and d.")
    }

    private mutating func count() throws(Problem) -> Int {
        guard next < words.count, !words[next].isQuoted, let count = Int(words[next].text), count >= 0 else {
            throw problem(expected: "a number", [])
        }
        next += 1
        return count
    }

    // MARK: Words

    /// Takes the next word if it is one of some, and not in quotes.
    private mutating func take(_ choices: [String]) -> String? {
        guard next < words.count, !words[next].isQuoted, choices.contains(words[next].text) else { return nil }
        next += 1
        return words[next - 1].text
    }

    /// - Parameter choices: the words that could have been written here, if others than those expected.
    private mutating func expect(_ expected: [String], orElse choices: [String]? = nil) throws(Problem) {
        guard take(expected) == nil else { return }
        throw problem(expected: Self.list(choices ?? expected, or: true), choices ?? expected)
    }

    private mutating func name(_ what: String) throws(Problem) -> String {
        guard next < words.count else { throw problem(expected: what, []) }
        guard !words[next].text.isEmpty else { throw Problem(column: words[next].column, text: "the name is empty.") }
        // A quote within a word is a mistake.
        if !words[next].isQuoted, let quote = words[next].text.firstIndex(of: "\"") {
            let column = words[next].column + words[next].text.distance(from: words[next].text.startIndex, to: quote)
            throw Problem(column: column, text: "there is a quote within the name. Write all of the name in quotes.")
        }
        next += 1
        return words[next - 1].text
    }

    private func end() throws(Problem) {
        if next < words.count { throw problem(expected: "the end of the rule", []) }
    }

    /// The error for the next word.
    ///
    /// - Parameters:
    ///   - choices: correct words, of which the nearest is suggested.
    ///   - advice: a sentence for a word that is near to none of them.
    private func problem(expected: String, _ choices: [String], otherwise advice: String? = nil) -> Problem {
        let word = next < words.count ? words[next] : nil
        let found = word.map { "\"\(Excerpt.of($0.text))\"" } ?? "the end of the rule"
        let nearest = word.flatMap { Suggestion.nearest(to: $0.text, among: choices) }
        let advice = nearest.map { "Did you mean \"\($0)\"?" } ?? advice
        return Problem(
            column: word?.column ?? words[words.count - 1].endColumn,
            text: "expected \(expected), found \(found).\(advice.map { " \($0)" } ?? "")")
    }

    private static func list(_ words: [String], or isAlternative: Bool = false) -> String {
        let quoted = words.map { "\"\($0)\"" }
        guard isAlternative, quoted.count > 1 else { return quoted.joined(separator: ", ") }
        return quoted.dropLast().joined(separator: ", ") + " or " + quoted[quoted.count - 1]
    }
}
