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
    /// How the run ended.
    case end(Int)
    case finding(Int)

    var role: Int? {
        switch self {
        case .occurs(_, let role), .repeats(_, let role): role
        default: nil
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
    private var texts: [RunEvent.Text] = []
    private var numbers: [RunEvent.Text: Int] = [:]
    /// The roles of threads without names.
    private(set) var unnamed: Set<Int> = []

    func number(_ text: RunEvent.Text) -> Int {
        if let known = numbers[text] { return known }
        numbers[text] = texts.count
        texts.append(text)
        return texts.count - 1
    }

    subscript(_ number: Int) -> RunEvent.Text { texts[number] }

    /// The role of a thread without a name, by its first text.
    func role(beginningWith number: Int) -> Int {
        let role = self.number(.init(subject: "the thread that begins with \(texts[number].words)"))
        unnamed.insert(role)
        return role
    }

    func clause(_ fact: RunFact) -> String {
        switch fact {
        case .occurs(let text, let role): texts[text].clause(role.map { texts[$0].words })
        case .repeats(let text, let role): "\(texts[text].clause(role.map { texts[$0].words })) more than once"
        case .follows(let text, let other): "\(texts[text].clause()) directly after \(second(other, text))"
        case .precedes(let text, let other): "\(texts[text].clause()) before \(second(other, text))"
        case .end(let text): "the run ends by \(texts[text].words)"
        case .finding(let text): "'diagnose' finds \(texts[text].words)"
        }
    }

    /// With its verb, unless that is the first text's, too.
    private func second(_ text: Int, _ first: Int) -> String {
        texts[text].verb == texts[first].verb ? texts[text].words : texts[text].clause()
    }
}
