/// What was seen in a trial: in a process of its own.
struct TrialObservation: Sendable, Hashable {
    enum End: Sendable, Hashable {
        case normal
        /// By itself, but not as it should, with the last words that the process said.
        case exit(Int32, lastWords: String?)
        /// By a signal, with the last words that the process said.
        case signal(Int32, lastWords: String?)
        /// It did not come to its end.
        case hangs
    }

    /// What happened, in order.
    var events: [TrialEvent]
    var end = End.normal

    init(events: [TrialEvent], end: End = .normal) {
        self.events = events
        self.end = end
    }

    /// - Parameter words: what happened, without details.
    init(words: [String], end: End = .normal) {
        self.init(events: words.map { TrialEvent($0) }, end: end)
    }
}

extension TrialObservation: CustomStringConvertible {
    var description: String {
        let seen = events.map(\.description).joined(separator: ", ")
        let then = seen.isEmpty ? "" : "then "
        let last: String? =
            switch end {
            case .normal: events.isEmpty ? "nothing" : nil
            case .exit(let code, let words): "\(then)ends with \(code)\(words.map { ": \($0)" } ?? "")"
            case .signal(let signal, let words): "\(then)ends by signal \(signal)\(words.map { ": \($0)" } ?? "")"
            case .hangs: "\(then)hangs"
            }
        return [seen.isEmpty ? nil : seen, last].compactMap(\.self).joined(separator: ", ")
    }
}

extension TrialObservation {
    /// What a process has said and how it ended.
    init(_ result: ChildProgram.Result) {
        let lastWords = Self.lastWords(in: result.errors)
        let end: End =
            switch result.end {
            case .exit(0): .normal
            case .exit(let code): .exit(code, lastWords: lastWords)
            case .signal(let signal): .signal(signal, lastWords: lastWords)
            }
        self.init(events: result.output.split(separator: "\n").map { TrialEvent(line: $0) }, end: end)
    }

    /// The first line, without addresses and where in the program it was said.
    private static func lastWords(in errors: String) -> String? {
        errors.split(separator: "\n").first.map { line in
            let words = line.split(separator: ": ", maxSplits: 2)
            // Swift's own: file:line: Fatal error: what.
            let said = words.count == 3 && words[1].hasSuffix("rror") ? words[2] : line
            // In the middle of a name, in brackets after one, and what follows from one on.
            let plain = said.replacing("(unknown context at ", with: "(").replacing(/\(\$[0-9a-f]+\)\./, with: "")
                .replacing(/\ \(0x[0-9a-f]+\)/, with: "")
            return Excerpt.of(String(plain[..<(plain.firstRange(of: " to 0x")?.lowerBound ?? plain.endIndex)]))
        }
    }
}
