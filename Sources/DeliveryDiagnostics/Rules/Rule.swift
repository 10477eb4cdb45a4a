internal import TerminalText

/// A rule about a recording: one clause of English, such as `Saved on main`. `RuleForm.all` has the forms.
///
/// `description` is the canonical text: `RuleParser` reads an equal rule from it. The exception is `complete`, which is
/// not written but checked of each recording.
package struct Rule: Sendable, Hashable {
    /// Where handlers run.
    enum Place: Sendable, Hashable {
        case main
        /// The name or the number of a thread.
        case thread(String)
    }

    package struct Origin: Sendable, Hashable {
        package var file: String
        package var line: Int
    }

    var form: RuleForm
    /// The names of notifications.
    var names: [String] = []
    var place: Place?
    var time = ElapsedTime(.zero)
    var count = 0
    /// The name of a kind of finding, also one of earlier versions.
    var kind = ""
    /// Where the rule is written; nil for an argument.
    package internal(set) var origin: Origin?

    init(_ form: RuleForm) { self.form = form }

    /// True for rules that hold if there is nothing that they are about: they say that something does not happen.
    var isAboutAbsence: Bool { form.pattern.hasPrefix("no ") || form.pattern.hasPrefix("at most ") }

    /// True for `no finding`, `no problem` and `no wrongThread`.
    var isAboutFindings: Bool { !kind.isEmpty || ["no finding", "no problem"].contains(form.pattern) }

    /// The name, in quotes if it would not be read as a name otherwise.
    static func name(_ name: String) -> String {
        let shown = ShownText.name(name)
        return shown.hasPrefix("#") || RuleForm.beginnings.contains(shown) ? ShownText.quoted(name) : shown
    }
}

extension Rule: CustomStringConvertible {
    package var description: String {
        filled(form.writings[place == nil ? 0 : form.writings.count - 1], name: Self.name) {
            // All digits, and a space before the unit.
            let text = ElapsedTime.exact(time.nanoseconds)
            let unit = text.drop { !$0.isLetter }
            return "\(text.dropLast(unit.count)) \(unit)"
        }
    }

    /// The rule in a sentence.
    var meaning: String { filled(form.meaning, name: { $0 }, time: { "\(time)" }) }

    private func filled(_ template: String, name: (String) -> String, time: () -> String) -> String {
        template.replacing(/[A-Z]{4,}/) { word in
            switch word.output {
            case "NAME": name(names[0])
            case "OTHER": name(names[1])
            case "PLACE": place?.description ?? "any thread"
            case "TIME": time()
            case "COUNT": "\(count)"
            default: kind
            }
        }
    }
}

extension Rule.Place: CustomStringConvertible {
    var description: String {
        switch self {
        case .main: "main"
        case .thread(let name): "thread \(Rule.name(name))"
        }
    }
}
