/// A form of rules: how it is written, what it means, and how it is checked. The parser, its errors and the help of
/// `check` come from `all`.
struct RuleForm: Sendable {
    /// Words. A rule fills in those in capitals, and may leave out those in brackets.
    let pattern: String
    /// A sentence with the same words in capitals; a place that is left out is any thread.
    let meaning: String
    let check: @Sendable (CheckedRule) -> RuleResult

    private init(_ pattern: String, _ meaning: String, _ check: @escaping @Sendable (CheckedRule) -> RuleResult) {
        (self.pattern, self.meaning, self.check) = (pattern, meaning, check)
    }

    static let all: [RuleForm] = [
        RuleForm("NAME on PLACE", "Handlers of NAME run on PLACE.") { $0.handlers(areThere: true) },
        RuleForm("NAME not on PLACE", "Handlers of NAME do not run on PLACE.") { $0.handlers(areThere: false) },
        RuleForm("NAME observed", "Each post of NAME has an observer.") { $0.observed() },
        RuleForm("NAME delivered", "Each post of NAME is delivered to each of its observers.") { $0.delivered() },
        RuleForm("NAME within TIME", "Each handler of NAME begins at most TIME after the post.") { $0.inTime() },
        RuleForm("NAME at most COUNT waiting", "At most COUNT of NAME wait for an observer.") { $0.waiting() },
        RuleForm("NAME before OTHER [on PLACE]", "On PLACE, no OTHER is handled before the first NAME.") {
            $0.ordered()
        },
        RuleForm("each NAME before OTHER [on PLACE]", "On PLACE, each OTHER is handled after its own NAME.") {
            $0.ordered(isEach: true)
        },
        RuleForm("every post observed", "Each post has an observer.") { $0.observed() },
        RuleForm("everything delivered", "Everything is delivered to each of its observers.") { $0.delivered() },
        RuleForm("no handler [on PLACE] longer than TIME", "No handler on PLACE takes longer.") { $0.noLongHandler() },
        RuleForm("no observer left at exit", "Every observer is removed before the exit.") { $0.noObserverLeft() },
        RuleForm("no finding", "'notify-demo diagnose' finds nothing.") { $0.noFinding() },
        RuleForm("no problem", "'notify-demo diagnose' finds no problem.") { $0.noFinding(.problem) },
        RuleForm("no KIND", "'notify-demo diagnose' has no finding of the kind KIND.") { $0.noFinding() },
    ]

    /// Checked of every recording that is incomplete, because other rules may hold for what is missing.
    static let complete = RuleForm("the recording is complete", "The recording has every record.") { $0.complete() }

    // MARK: Reading

    /// How to write a rule: the form that shares most words with a line, or all forms.
    static func advice(for line: String) -> String {
        let words = line.split(separator: " ").map(String.init)
        func shared(_ form: RuleForm) -> Int {
            form.pattern.split(separator: " ").count { word in words.contains { Suggestion.isNear($0, "\(word)") } }
        }
        let nearest = all.max { shared($0) < shared($1) }.flatMap { shared($0) > 0 ? $0 : nil }
        let forms = nearest.map { "Did you mean the form \($0.pattern)?" }
        return (forms ?? "The rules are: \(all.map(\.pattern).joined(separator: "; ")).")
            + " PLACE is main or such as thread cook, TIME such as 16 ms; a name with spaces is quoted."
    }

    private static let text = ##""(?:[^"\\]|\\.)*"|[^\s"#][^\s"]*"##
    /// Words that begin other rules are written in quotes.
    private static let name = #"((?!(?:no|each|every|everything)(?!\S))(?:\#(text)))"#
    /// What the words in capitals stand for.
    private static let values = [
        "NAME": name, "OTHER": name, "PLACE": #"(main|thread\s+(?:\#(text)))"#, "TIME": #"([\d.]+\s*\p{L}+)"#,
        "COUNT": #"([0-9]+)"#, "KIND": #"(\w+)"#,
    ]

    var capitals: [String] { pattern.matches(of: #/[A-Z]{2,}/#).map { String($0.output) } }

    /// Captures the rule without a comment after it, and the values of its words in capitals.
    var regex: Regex<AnyRegexOutput> {
        let pattern = pattern.replacing(" [", with: "(?: ").replacing("]", with: ")?").replacing(" ", with: #"\s+"#)
            .replacing(#/[A-Z]{2,}/#) { Self.values["\($0.output)"] ?? "" }
        // A form in `all` is a valid pattern.
        return (try? Regex("(\(pattern))(?:\\s+#.*|\\s*)")) ?? Regex(verbatim: pattern)
    }
}

/// Two lines for each form of rules, for the help of a command.
package let rulesHelp = RuleForm.all.map { "  \($0.pattern)\n      \($0.meaning)" }.joined(separator: "\n")
