internal import DeliveryRecording
internal import TerminalText

/// A rule about a recording: one clause of English, such as `Saved on main`.
///
///     NAME on PLACE                  NAME not on PLACE            PLACE is main, or thread NAME
///     NAME observed                  every post observed
///     NAME delivered                 everything delivered
///     NAME within TIME               NAME at most N waiting
///     NAME before NAME               NAME before NAME on PLACE
///     each NAME before NAME          each NAME before NAME on PLACE
///     no handler longer than TIME    no handler on PLACE longer than TIME
///     no post longer than TIME       no observer left at exit
///     at most N NAME per second
///     no finding                     no problem                   no KIND, such as no wrongThread
///
/// `description` is the canonical text: `RuleParser` reads an equal rule from it. The exception is `complete`, which is
/// not written but checked of each recording.
package struct Rule: Sendable, Hashable {
    enum Clause: Sendable, Hashable {
        /// Handlers of the name run there, or do not.
        case handlers(of: String, isThere: Bool, Place)
        /// Each post of the name has an observer; nil means every name.
        case observed(String?)
        /// Each post of the name has been delivered to each observer that it matched; nil means every name and block.
        case delivered(String?)
        /// The time from a post, or from leaving its posting queue, to the begin of each handler.
        case within(ElapsedTime, of: String)
        /// What waits for one observer at the same time.
        case waiting(Int, of: String)
        /// No handler of the second name comes before the first one of the first name on its thread; with `each`, the
        /// k-th comes after the k-th. Nil means every thread.
        case before(first: String, second: String, each: Bool, on: Place?)
        /// Nil means every thread.
        case noHandler(on: Place?, longerThan: ElapsedTime)
        case noPost(longerThan: ElapsedTime)
        case noObserverLeft
        /// The posts of the name in any second.
        case atMost(Int, of: String)
        case noFinding(Findings)
        /// The recording has every record.
        case complete
    }

    /// Where handlers run.
    enum Place: Sendable, Hashable {
        case main
        /// The name or the number of a thread.
        case thread(String)
    }

    /// Findings of `Diagnosis`.
    enum Findings: Sendable, Hashable {
        case all
        case problems
        /// A kind's name, also one of earlier versions.
        case kind(String)
    }

    let clause: Clause
    /// Where the rule is written; nil for an argument.
    package let origin: Origin?

    package struct Origin: Sendable, Hashable {
        package var file: String
        package var line: Int
    }

    init(_ clause: Clause, origin: Origin? = nil) {
        self.clause = clause
        self.origin = origin
    }
}

extension Rule.Clause {
    /// The names of notifications in it.
    var names: [String] {
        switch self {
        case .handlers(let name, _, _), .within(_, let name), .waiting(_, let name), .atMost(_, let name): [name]
        case .observed(let name), .delivered(let name): [name].compactMap(\.self)
        case .before(let first, let second, _, _): [first, second]
        case .noHandler, .noPost, .noObserverLeft, .noFinding, .complete: []
        }
    }
}

extension Rule: CustomStringConvertible {
    package var description: String {
        switch clause {
        case .handlers(let name, true, let place): "\(Self.name(name)) on \(place)"
        case .handlers(let name, false, let place): "\(Self.name(name)) not on \(place)"
        case .observed(let name): "\(name.map(Self.name) ?? "every post") observed"
        case .delivered(let name): "\(name.map(Self.name) ?? "everything") delivered"
        case .within(let time, let name): "\(Self.name(name)) within \(Self.time(time))"
        case .waiting(let count, let name): "\(Self.name(name)) at most \(count) waiting"
        case .before(let first, let second, let isEach, let place):
            "\(isEach ? "each " : "")\(Self.name(first)) before \(Self.name(second))\(place.map { " on \($0)" } ?? "")"
        case .noHandler(let place, let time):
            "no handler\(place.map { " on \($0)" } ?? "") longer than \(Self.time(time))"
        case .noPost(let time): "no post longer than \(Self.time(time))"
        case .noObserverLeft: "no observer left at exit"
        case .atMost(let count, let name): "at most \(count) \(Self.name(name)) per second"
        case .noFinding(.all): "no finding"
        case .noFinding(.problems): "no problem"
        case .noFinding(.kind(let kind)): "no \(kind)"
        case .complete: "the recording is complete"
        }
    }

    /// The rule in a sentence.
    var meaning: String {
        switch clause {
        case .handlers(let name, let isThere, let place):
            "Handlers of \(name) \(isThere ? "" : "do not ")run on \(place)."
        case .observed(let name): "Each post\(name.map { " of \($0)" } ?? "") has an observer."
        case .delivered(let name):
            "\(name.map { "Each post of \($0)" } ?? "Everything") is delivered to each of its observers."
        case .within(let time, let name):
            "Each handler of \(name) begins at most \(time) after the post, or after its posting queue posted it."
        case .waiting(let count, let name): "At most \(count) notifications of \(name) wait for an observer."
        case .before(let first, let second, let isEach, let place):
            "\(place.map { "On \($0)" } ?? "On each thread"), "
                + (isEach
                    ? "the first \(second) is handled after the first \(first), the second after the second, and so on."
                    : "no \(second) is handled before the first \(first).")
        case .noHandler(let place, let time): "No handler\(place.map { " on \($0)" } ?? "") takes longer than \(time)."
        case .noPost(let time): "No post blocks its thread for longer than \(time)."
        case .noObserverLeft: "Every observer is removed before the program ends."
        case .atMost(let count, let name): "\(name) is posted at most \(count) times in any second."
        case .noFinding(.all): "'notify-demo diagnose' finds nothing."
        case .noFinding(.problems): "'notify-demo diagnose' finds no problem."
        case .noFinding(.kind(let kind)): "'notify-demo diagnose' has no finding of the kind \(kind)."
        case .complete: "The recording has every record of what happened."
        }
    }

    /// The name, in quotes if it would not be read as a name otherwise.
    static func name(_ name: String) -> String {
        let shown = ShownText.name(name)
        return shown.hasPrefix("#") || RuleParser.beginnings.contains(shown) ? ShownText.quoted(name) : shown
    }

    /// All digits, and a space before the unit.
    private static func time(_ time: ElapsedTime) -> String {
        let text = ElapsedTime.exact(time.nanoseconds)
        let unit = text.drop { !$0.isLetter }
        return "\(text.dropLast(unit.count)) \(unit)"
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
