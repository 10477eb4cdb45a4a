package import DeliveryRecording
internal import TerminalText

/// A difference of two runs. Everything that happened before the first one is the same in both.
package struct RunDifference: Sendable, Encodable {
    package enum Reason: String, Sendable, Encodable {
        case onlyInFirst, onlyInSecond
        /// A property of the records or lines.
        case stage, name, post, observer, thread, target, relatedPost, count, sender, message, details
        /// The runs ended in different ways.
        case end
        /// A thread, or a pool, does the same earlier in one run.
        case order

        /// Describes a difference by its reason alone.
        var sentence: String {
            switch self {
            case .thread: "The threads differ, or what handed the work to them."
            case .relatedPost: "The related posts differ."
            case .details: "The details differ."
            case .order: "This happens in another order."
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
    /// Sentences that explain the difference. The first one says what differs.
    package var explanation: [String]
}

extension RunDifference: CustomStringConvertible {
    /// Several lines: what differs, why it matters, both sides, and more about it.
    package var description: String {
        let head = [explanation.first, consequence].compactMap(\.self)
        return (head + Self.lines(of: [first, second]) + explanation.dropFirst()).joined(separator: "\n")
    }

    /// Why the difference of two recordings matters; nil if that depends on the program.
    private var consequence: String? {
        let stages = [first.stage, second.stage]
        return switch reason {
        case .thread where first.stage == .deliver:
            "What the handler shares with other code may be used by two threads."
        case .thread where first.stage == .post || first.stage == .enqueue:
            "Only notifications that one thread posts are delivered in order."
        case .target: "The handler may be called on another thread."
        case .order where stages == [.deliver, .deliver]: "Handlers are called in another order."
        case .count,
            .stage where stages.contains(.deliver), .onlyInFirst where first.stage == .deliver,
            .onlyInSecond where second.stage == .deliver:
            "A handler may be called in one run only."
        default: nil
        }
    }

    static func lines(of sides: [Side]) -> [String] {
        let rows = sides.map { side in
            [side.line.map { "\(side.source):\($0)" } ?? side.source, side.text ?? "(no counterpart)"]
        }
        return Table([.text(), .text()], rows: rows.map { $0.map { Excerpt.of($0, length: 240) } }).lines()
            .map { "  \($0)" }
    }
}
