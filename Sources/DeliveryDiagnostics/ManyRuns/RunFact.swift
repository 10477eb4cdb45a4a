/// Something that is true of a run or not.
enum RunFact: Hashable {
    /// A text occurs on a role, or anywhere.
    case occurs(RunEvent.Text, role: String?)
    /// It occurs more than once there.
    case repeats(RunEvent.Text, role: String?)
    /// A text comes directly after another on a lane.
    case follows(RunEvent.Text, after: RunEvent.Text)
    /// Of two texts that occur once, on different lanes, the first comes before the second.
    case precedes(RunEvent.Text, RunEvent.Text)
    /// How the run ended.
    case end(String)
    case finding(String)

    var role: String? {
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

    var clause: String {
        /// With its verb, unless that is the first text's, too.
        func second(_ text: RunEvent.Text, _ first: RunEvent.Text) -> String {
            text.verb == first.verb ? text.words : text.clause()
        }
        return switch self {
        case .occurs(let text, let role): text.clause(role)
        case .repeats(let text, let role): "\(text.clause(role)) more than once"
        case .follows(let text, let other): "\(text.clause()) directly after \(second(other, text))"
        case .precedes(let text, let other): "\(text.clause()) before \(second(other, text))"
        case .end(let words): "the run ends by \(words)"
        case .finding(let words): "'diagnose' finds \(words)"
        }
    }
}
