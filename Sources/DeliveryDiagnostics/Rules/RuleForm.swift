/// A form of rules: how it is written, what it means, and how it is checked.
///
/// The parser, its errors and the help of `check` come from `all`. A new form is a line there and its check.
package struct RuleForm: Sendable {
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
        RuleForm("NAME within TIME", "Each handler of NAME begins at most TIME after the post.") {
            $0.deliveredInTime()
        },
        RuleForm("NAME at most COUNT waiting", "At most COUNT notifications of NAME wait for an observer.") {
            $0.waiting()
        },
        RuleForm("NAME before OTHER [on PLACE]", "On PLACE, no OTHER is handled before the first NAME there.") {
            $0.ordered(isEach: false)
        },
        RuleForm("each NAME before OTHER [on PLACE]", "On PLACE, each OTHER is handled after its own NAME.") {
            $0.ordered(isEach: true)
        },
        RuleForm("every post observed", "Each post has an observer.") { $0.observed() },
        RuleForm("everything delivered", "Everything is delivered to each of its observers.") { $0.delivered() },
        RuleForm("no handler [on PLACE] longer than TIME", "No handler on PLACE takes longer than TIME.") {
            $0.noLongHandler()
        },
        RuleForm("no observer left at exit", "Every observer is removed before the program ends.") {
            $0.noObserverLeft()
        },
        RuleForm("no finding", "'notify-demo diagnose' finds nothing.") { $0.noFinding { _ in true } },
        RuleForm("no problem", "'notify-demo diagnose' finds no problem.") {
            $0.noFinding("problem") { $0.severity == .problem }
        },
        RuleForm("no KIND", "'notify-demo diagnose' has no finding of the kind KIND.") { checked in
            checked.noFinding { $0.isCalled(checked.rule.kind) }
        },
    ]

    /// Checked of every recording, because other rules may hold for what is missing.
    static let complete = RuleForm(
        "the recording is complete", "The recording has every record of what happened."
    ) { $0.complete() }

    /// Each way to write a rule, in words: without and with those in brackets.
    static let writings: [(form: RuleForm, words: [String])] = all.flatMap { form in
        [#/ \[.*\]/#, #/[\[\]]/#].map { form.pattern.replacing($0, with: "").split(separator: " ").map(String.init) }
            .map { (form, $0) }
    }

    /// Words that begin other rules than those of a name. A notification with such a name is written in quotes.
    static let beginnings = Set(writings.map { $0.words[0] }).subtracting(["NAME"])

    /// Two lines for each form, for the help of a command.
    package static let help = all.map { "  \($0.pattern)\n      \($0.meaning)" }.joined(separator: "\n")
}
