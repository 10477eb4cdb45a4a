internal import DeliveryRecording
internal import TerminalText

/// Something that is true of a run or not. Texts, roles, findings and ends are numbers of a `FactTexts`.
enum RunFact: Hashable {
    /// A text occurs on a role, or anywhere.
    case occurs(Int, role: Int?)
    /// It occurs more than once there.
    case repeats(Int, role: Int?)
    /// A text comes directly after another on a lane.
    case follows(Int, after: Int)
    /// Of two texts that occur once, on different lanes, the first comes before the second.
    case precedes(Int, Int)
    /// A lane of the role ends with the text.
    case ends(Int, role: Int)
    /// How the run ended.
    case end(Int)
    case finding(Int)

    var role: Int? {
        switch self {
        case .occurs(_, let role), .repeats(_, let role): role
        case .ends(_, let role): role
        case .follows, .precedes, .end, .finding: nil
        }
    }

    /// The same without its role, if it has one.
    var anywhere: RunFact? {
        switch self {
        case .occurs(let text, .some): .occurs(text, role: nil)
        case .repeats(let text, .some): .repeats(text, role: nil)
        default: nil
        }
    }
}

/// Numbers for texts: equal texts of all runs have the same number.
final class FactTexts {
    struct Text: Hashable {
        /// A message, the name of a notification, or words; empty if there is no name.
        var subject: String
        /// The verb, before a role: `is handled on`. Empty for a role, a finding and an end.
        var verb = ""
        var isMessage = false
        var isOutcome = false
    }

    private var texts: [Text] = []
    /// The roles of threads without names.
    private(set) var unnamed: Set<Int> = []
    private var numbers: [Text: Int] = [:]

    func number(_ text: Text) -> Int {
        if let known = numbers[text] { return known }
        numbers[text] = texts.count
        texts.append(text)
        return texts.count - 1
    }

    subscript(_ number: Int) -> Text { texts[number] }

    /// The subject of a sentence.
    func subject(_ number: Int) -> String {
        let text = texts[number]
        if text.verb.isEmpty { return text.subject }
        if text.isMessage { return ShownText.quoted(Excerpt.of(text.subject.replacing("\n", with: " … "))) }
        return text.subject.isEmpty ? "what has no name" : ShownText.name(Excerpt.of(text.subject))
    }

    /// The role of a thread without a name, by its first text.
    func role(beginningWith number: Int) -> Int {
        let role = self.number(Text(subject: "the thread that begins with \(subject(number))"))
        unnamed.insert(role)
        return role
    }

    /// `Saved is handled on main`, or without a role `Saved is handled`.
    private func clause(_ number: Int, role: Int? = nil) -> String {
        let verb = texts[number].verb
        return "\(subject(number)) " + (role.map { "\(verb) \(subject($0))" } ?? Self.bare(verb))
    }

    private static func bare(_ verb: String) -> String { verb.split(separator: " ").dropLast().joined(separator: " ") }

    /// `Saved is handled before Loaded`, or with the verbs of both.
    private func clause(_ one: Int, _ relation: String, _ other: Int) -> String {
        let rest = texts[one].verb == texts[other].verb ? subject(other) : clause(other)
        return "\(clause(one)) \(relation) \(rest)"
    }

    func clause(_ fact: RunFact) -> String {
        switch fact {
        case .occurs(let text, let role): clause(text, role: role)
        case .repeats(let text, let role): "\(clause(text, role: role)) more than once"
        case .follows(let text, let other): clause(text, "directly after", other)
        case .precedes(let text, let other): clause(text, "before", other)
        case .ends(let text, let role): "\(subject(role)) does nothing after \(clause(text))"
        case .end(let text): "the run ends by \(subject(text))"
        case .finding(let text): "'diagnose' finds \(subject(text))"
        }
    }
}
