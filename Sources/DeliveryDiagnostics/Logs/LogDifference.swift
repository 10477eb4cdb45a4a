/// Where two logs first differ, with both lines.
public struct LogDifference: Hashable, Sendable {
    /// From 1, the same in both: until here each line has its counterpart.
    public var line: Int
    var reason: Reason
    var first: Side
    var second: Side

    enum Reason: Hashable, Sendable {
        case message
        case process(Mismatch)
        case thread(Mismatch)
        case threadNumber(Mismatch)
        case oneEnds
    }

    /// In which line each side's name was seen first; nil if never before.
    struct Mismatch: Hashable, Sendable {
        var firstSeen: Int?
        var secondSeen: Int?
    }

    struct Side: Hashable, Sendable {
        var log: String
        /// Nil if the log ended before.
        var line: String?
        var isWhole: Bool
    }
}

extension LogDifference: CustomStringConvertible {
    /// Several lines: where, both lines, and what is different.
    public var description: String {
        let sides = [first, second]
        let width = sides.map(\.log.count).max() ?? 0
        let position = commonLength
        var lines = ["the logs differ at line \(line)"]
        for side in sides {
            let name = side.log + String(repeating: " ", count: width - side.log.count)
            let shown = side.line.map { Excerpt.of($0, around: $0.count > 120 ? position : 0, length: 120) }
            lines.append("  \(name)  \(shown ?? "(ends after line \(line - 1))")")
        }
        lines.append(explanation)
        for side in sides where !side.isWhole {
            lines.append("\(side.log) ends within line \(line), without a newline: it may be cut off.")
        }
        return lines.joined(separator: "\n")
    }

    private var explanation: String {
        switch reason {
        case .message: "The messages differ."
        case .oneEnds: "One log goes on where the other ends."
        case .process(let mismatch): told(mismatch, "by a process", "by the process")
        case .thread(let mismatch): told(mismatch, "by a thread", "by the thread")
        case .threadNumber(let mismatch): told(mismatch, "of a thread", "of the thread", verb: "speaks")
        }
    }

    private func told(_ mismatch: Mismatch, _ new: String, _ known: String, verb: String = "is written") -> String {
        func told(_ seen: Int?) -> String {
            seen.map { "\(known) of line \($0)" } ?? "\(new) not seen before"
        }
        return "In \(first.log) the line \(verb) \(told(mismatch.firstSeen)), "
            + "in \(second.log) \(told(mismatch.secondSeen))."
    }

    /// How many characters the two lines' messages have in common, counted from the lines' beginning.
    private var commonLength: Int {
        switch reason {
        case .message, .threadNumber: break
        case .process, .thread, .oneEnds: return 0
        }
        guard let one = first.line, let other = second.line else { return 0 }
        let (tail, otherTail) = (Self.message(of: one), Self.message(of: other))
        return one.count - tail.count + zip(tail, otherTail).prefix { $0 == $1 }.count
    }

    private static func message(of line: String) -> Substring {
        line.firstIndex(of: "]").map { line[$0...] } ?? line[...]
    }
}
