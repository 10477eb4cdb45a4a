package import DeliveryRecording
internal import TerminalText

/// A difference of two runs. Everything that happened before the first one is the same in both.
package struct RunDifference: Sendable, Encodable {
    package enum Reason: String, Sendable, Encodable {
        case onlyInFirst, onlyInSecond
        /// A property of the records or lines.
        case stage, name, post, observer, thread, target, relatedPost, count, sender, message, details, mention
        /// An observer is removed earlier in one run.
        case removal
        /// The runs ended in different ways.
        case end
        /// A thread writes a line of a text log earlier in one run.
        case order
        /// One run has a record that the other, truncated recording does not have. The runs may or may not differ.
        case truncated

        /// Describes a difference by its reason alone; `truncated` needs more than that.
        var sentence: String {
            switch self {
            case .onlyInFirst, .onlyInSecond: "One run continues where the other ends."
            case .relatedPost: "The related posts differ."
            case .removal: "An observer is removed earlier in one run."
            case .sender: "The types of the senders differ."
            case .details: "The details differ."
            case .mention: "The messages mention different threads."
            case .order: "The same thread writes the line in another order."
            case .end: "All else is the same, but the runs ended in different ways."
            default: "The \(rawValue)s differ."
            }
        }
    }

    /// The record or line of one run.
    package struct Side: Sendable, Encodable {
        /// The path of the file.
        package var source: String
        /// Line of the file, from 1.
        package var line: Int?
        package var thread: String?
        package var stage: DeliveryStage?
        /// A description of the record, or the line of the log. Nil if the run has no such record.
        package var text: String?
    }

    package var reason: Reason
    package var first: Side
    package var second: Side
    /// Sentences that explain the difference.
    package var explanation: [String]
}

extension RunDifference.Side {
    init(_ index: RecordingIndex, _ number: Int?) {
        self.init(source: index.recording.source)
        guard let number else { return }
        let entry = index.recording.entries[number]
        line = Int(entry.line)
        thread = index.recording.describeThread(entry.thread)
        stage = entry.stage
        text = RecordWords(index).threadAndWords(Int32(number))
    }
}

extension RunDifference {
    /// The names of the runs in sentences.
    static func names(_ sources: Pair<String>) -> Pair<String> {
        let names = sources.map { ShownText.escaped($0) }
        return names.first == names.second ? Pair("the first", "the second") : names
    }
}

extension RunDifference: CustomStringConvertible {
    /// Several lines. Of recordings: what differs, why it matters, both sides; of logs: both sides, what differs.
    package var description: String {
        let isOfRecordings = first.stage != nil || second.stage != nil
        let head = isOfRecordings && reason != .truncated ? [difference, consequence].compactMap(\.self) : []
        let sides = Self.lines(of: [first, second], around: commonLength)
        return (head + sides + explanation.dropFirst(head.isEmpty ? 0 : 1)).joined(separator: "\n")
    }

    private var difference: String? {
        guard reason == .stage, explanation.first == reason.sentence, let stage = first.stage, let other = second.stage
        else { return explanation.first }
        let threads = (first.thread ?? "", second.thread ?? "")
        return "One run has \(stage.rawValue) on \(threads.0) where the other has \(other.rawValue) on \(threads.1)."
    }

    /// Why the difference of two recordings matters; nil if that depends on the program.
    private var consequence: String? {
        let stages = [first.stage, second.stage]
        let isCalledOnce = stages.contains(.deliver) && stages[0] != stages[1]
        return switch reason {
        case .thread where first.stage == .deliver:
            "What the handler shares with other code may be used by two threads."
        case .thread where first.stage == .post || first.stage == .enqueue:
            "Only notifications that one thread posts are delivered in order."
        case .target: "The handler may be called on another thread."
        case .post where stages == [.deliver, .deliver]: "Handlers are called in another order."
        case .removal: "Notifications that are posted after the removal do not reach it."
        case .count: "A handler may be called in one run only."
        case .stage where isCalledOnce, .onlyInFirst where isCalledOnce, .onlyInSecond where isCalledOnce:
            "A handler may be called in one run only."
        default: nil
        }
    }

    /// - Parameter position: what to show of long lines.
    static func lines(of sides: [Side], around position: Int = 0) -> [String] {
        let locations = sides.map { side in
            Excerpt.of(side.line.map { "\(side.source):\($0)" } ?? side.source, length: 240)
        }
        let width = locations.map(\.count).max() ?? 0
        return zip(sides, locations).map { side, location in
            let padding = String(repeating: " ", count: width - location.count)
            let text = side.text.map { Excerpt.of($0, around: $0.count > 240 ? position : 0, length: 240) }
            return "  \(location)\(padding)  \(text ?? "(no counterpart)")"
        }
    }

    /// The number of characters up to which the two lines are equal, ignoring differences before the message.
    private var commonLength: Int {
        guard reason == .message || reason == .mention, let line = first.text, let other = second.text else { return 0 }
        func message(of line: String) -> Substring { line.firstIndex(of: "]").map { line[$0...] } ?? line[...] }
        let tail = message(of: line)
        return line.count - tail.count + zip(tail, message(of: other)).prefix { $0 == $1 }.count
    }
}
