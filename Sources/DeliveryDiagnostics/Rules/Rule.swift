internal import TerminalText

/// A rule about a recording: one clause of English, such as `Saved on main`. `RuleForm.all` has the forms.
package struct Rule: Sendable, CustomStringConvertible {
    /// Where handlers run.
    enum Place: Sendable {
        case main
        /// The name or the number of a thread.
        case thread(String)
    }

    package struct Origin: Sendable {
        package var file: String
        package var line: Int
    }

    let form: RuleForm
    /// The words of the rule, with single spaces.
    package let description: String
    /// Where the rule is written; nil for an argument.
    package let origin: Origin?
    /// The names of notifications.
    var names: [String] = []
    var place: Place?
    var time = ElapsedTime(.zero)
    var count = 0
    /// The name of a kind of finding, also one of earlier versions.
    var kind = ""

    init(_ form: RuleForm, description: String? = nil, origin: Origin? = nil) {
        (self.form, self.description, self.origin) = (form, description ?? form.pattern, origin)
    }

    /// True for rules that hold if there is nothing that they are about: they say that something does not happen.
    var isAboutAbsence: Bool { form.pattern.hasPrefix("no ") }

    /// A name as a rule has it: in quotes if it would not be read as a name otherwise.
    static func name(_ name: String) -> String {
        name.hasPrefix("#") || RuleForm.beginnings.contains(name.lowercased())
            ? ShownText.quoted(name) : ShownText.name(name)
    }
}
