package import DeliveryRecording
internal import Foundation
internal import TerminalText

/// A rule about a recording: one clause of English, such as `Saved on main`. `RuleForm.all` has the forms.
package struct Rule: Sendable {
    let form: RuleForm
    /// As it is written.
    let text: String
    /// Where it is written; nil for an argument.
    var origin: (file: String, line: Int)?
    /// The names of notifications.
    private(set) var names: [String] = []
    /// The name or the number of a thread, 1 for main.
    private(set) var place: String?
    private(set) var time = ElapsedTime(nanoseconds: 0)
    private(set) var count = 0
    private(set) var kind: String?

    /// True for `no finding`, `no problem` and `no KIND`.
    var isAboutFindings: Bool { ["no finding", "no problem", "no KIND"].contains(form.pattern) }
}

// MARK: Reading

extension Rule {
    /// Reads rules, one on each line. Text after `#` at the beginning of a line or after a space is a comment.
    ///
    ///     # The window belongs to the main thread.
    ///     WindowWillClose on main
    ///     no handler on main longer than 16 ms
    ///
    /// - Parameter source: the file, `-` for standard input, or the option that has the rule.
    /// - Throws: `LogError` with the first line that is not a rule, or if there is no rule.
    package static func rules(_ text: String, source: String, isFile: Bool = true) throws(LogError) -> [Rule] {
        let forms = RuleForm.all.map { ($0, $0.regex) }
        var rules: [Rule] = []
        for (number, line) in zip(1..., text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let matches = forms.lazy.compactMap { form, regex in line.wholeMatch(of: regex).map { (form, $0.output) } }
            var problem: String?
            if let (form, match) = matches.first {
                let origin = isFile && source != "-" ? (source, number) : nil
                var rule = Rule(form: form, text: String(match[1].substring ?? ""), origin: origin)
                problem = rule.read(match.dropFirst(2).map { $0.substring.map(String.init) })
                rules.append(rule)
            } else {
                problem = "\"\(Excerpt.of(line))\" is not a rule. \(RuleForm.advice(for: line))"
            }
            if let problem { throw LogError(log: source, line: isFile ? number : nil, problem: problem) }
        }
        if !rules.isEmpty { return rules }
        throw LogError(log: source, line: nil, problem: "has no rule. Write one on each line: Saved on main")
    }

    /// Takes the values of the form's words in capitals.
    ///
    /// - Returns: what is wrong with one of them.
    private mutating func read(_ values: [String?]) -> String? {
        for case (let word, let value?) in zip(form.capitals, values) {
            switch word {
            case "PLACE" where value == "main": place = "1"
            case "PLACE": place = Self.unquoted(value.replacing(#/thread\s+/#, with: "", maxReplacements: 1))
            case "TIME":
                guard let time = ElapsedTime(value) else { return "\"\(value)\" is not a time such as 16 ms." }
                self.time = time
            case "COUNT": count = Int(value) ?? .max
            case "KIND":
                kind = Detector.kind(called: value)
                if kind == nil { return Detector.problem(withKind: value) }
            default:
                let name = Self.unquoted(value)
                if names.contains(name) { return "a notification cannot come before itself." }
                names.append(name)
            }
        }
        return nil
    }

    /// Text in quotes is a string of JSON.
    private static func unquoted(_ text: String) -> String {
        (try? JSONDecoder().decode(String.self, from: Data(text.utf8))) ?? text
    }
}
