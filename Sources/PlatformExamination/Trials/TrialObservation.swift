internal import ChildProcesses
internal import DeliveryRecording

/// The events of a trial, and how its process ended.
struct TrialObservation: Sendable, Hashable {
    enum End: Sendable, Hashable {
        case normal
        /// An exit status other than 0, with the first line of standard error.
        case exit(Int32, message: String?)
        /// A signal, with the first line of standard error.
        case signal(Int32, message: String?)
        /// The process did not end within the timeout.
        case hangs
    }

    /// The events, in order.
    var events: [TrialEvent]
    var end = End.normal

    init(events: [TrialEvent], end: End = .normal) {
        self.events = events
        self.end = end
    }

    /// - Parameter words: the events without details.
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
            case .signal(let signal, let words): "\(then)ends with signal \(signal)\(words.map { ": \($0)" } ?? "")"
            case .hangs: "\(then)hangs"
            }
        return [seen.isEmpty ? nil : seen, last].compactMap(\.self).joined(separator: ", ")
    }
}

extension TrialObservation {
    /// The output and the end of a trial's process.
    init(_ result: ChildProgram.Result) {
        let message = Self.firstLine(of: result.errors)
        let end: End =
            switch result.end {
            case .exit(0): .normal
            case .exit(let code): .exit(code, message: message)
            case .signal(let signal): .signal(signal, message: message)
            case .timedOut: .hangs
            }
        self.init(events: result.output.split(separator: "\n").map { TrialEvent(line: $0) }, end: end)
    }

    /// The first line, without addresses and without its source location.
    private static func firstLine(of errors: String) -> String? {
        errors.split(separator: "\n").first.map { line in
            let words = line.split(separator: ": ", maxSplits: 2)
            // Swift's messages have the form file:line: Fatal error: text.
            let said = words.count == 3 && words[1].hasSuffix("rror") ? words[2] : line
            // Removes addresses inside a name, in parentheses after a name, and everything after "to 0x".
            let plain = said.replacing("(unknown context at ", with: "(").replacing(/\(\$[0-9a-f]+\)\./, with: "")
                .replacing(/\ \(0x[0-9a-f]+\)/, with: "")
            return Excerpt.of(String(plain[..<(plain.firstRange(of: " to 0x")?.lowerBound ?? plain.endIndex)]))
        }
    }
}
