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

/// The verb of a text, before a role: `is handled on`.
struct Deed: Hashable {
    let words: String
    var isOutcome = false

    static let written = Deed(words: "is written by")
    private static let unobserved = Deed(words: "is posted without an observer by", isOutcome: true)
    static let pending = Deed(words: "is never handled by", isOutcome: true)
    /// Of a role, a finding and an end.
    static let none = Deed(words: "")

    var preposition: Substring { words.split(separator: " ").last ?? "" }

    private static let ofStage: [DeliveryStage: Deed] = [
        .log: Deed(words: "is logged by"), .post: Deed(words: "is posted by"),
        .enqueue: Deed(words: "is enqueued by"), .deliver: Deed(words: "is handled on"),
        .register: Deed(words: "gets an observer from"), .remove: Deed(words: "loses an observer by"),
        .coalesce: Deed(words: "is coalesced for", isOutcome: true),
        .drop: Deed(words: "is dropped for", isOutcome: true),
        .cancel: Deed(words: "is cancelled for", isOutcome: true),
        .targetGone: Deed(words: "is lost with its target thread", isOutcome: true),
        .skip: Deed(words: "is skipped for", isOutcome: true),
    ]

    /// Nil for a record that is no event of its own, such as a `return`.
    static func of(_ entry: Recording.Entry, _ index: RecordingIndex) -> Deed? {
        let returned = entry.stage != .post || entry.post < 0 ? -1 : index.posts[Int(entry.post)].returned
        let count = returned < 0 ? entry.count : index.entry(returned).count
        return entry.stage == .post && count == 0 ? unobserved : ofStage[entry.stage]
    }
}

/// Numbers for texts: equal texts of all runs have the same number.
final class FactTexts {
    struct Text: Hashable {
        /// A message, the name of a notification, or words; empty if there is no name.
        var subject: String
        var deed = Deed.none
        var isMessage = false
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
        if text.deed == .none { return text.subject }
        if text.isMessage { return ShownText.quoted(Excerpt.of(text.subject.replacing("\n", with: " … "))) }
        return text.subject.isEmpty ? "what has no name" : ShownText.name(Excerpt.of(text.subject))
    }

    /// `Saved is handled on main`, or without a role `Saved is handled`.
    private func clause(_ number: Int, role: Int? = nil) -> String {
        let words = texts[number].deed.words
        guard let role else {
            return "\(subject(number)) \(words.prefix(upTo: words.lastIndex(of: " ") ?? words.endIndex))"
        }
        let isFirst = subject(role) == beginner(number)
        return "\(subject(number)) \(words) \(isFirst ? "a thread that begins with it" : subject(role))"
    }

    /// The role of a thread without a name, by its first text.
    func role(beginningWith number: Int) -> Int {
        let role = self.number(Text(subject: beginner(number)))
        unnamed.insert(role)
        return role
    }

    private func beginner(_ number: Int) -> String { "the thread that begins with \(subject(number))" }

    /// `Saved is handled before Loaded`, or with the verbs of both.
    private func clause(_ one: Int, _ relation: String, _ other: Int) -> String {
        let rest = texts[one].deed == texts[other].deed ? subject(other) : clause(other)
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
