internal import DeliveryRecording

/// The first difference of two logs, with both lines.
package struct LogDifference: Hashable, Sendable {
    var reason: Reason
    var first: Side
    var second: Side

    enum Reason: Hashable, Sendable {
        case message
        case process(Mismatch)
        case thread(Mismatch)
        case threadNumber(Mismatch)
        case oneEnds
        /// No thread of the second log writes the line. Its first line without a counterpart is shown.
        case threadEnds
        /// The messages mention threads that cannot correspond to each other.
        case mention
    }

    /// The line in which each side's name first occurred; nil if it is new.
    struct Mismatch: Hashable, Sendable {
        var firstSeen: Int?
        var secondSeen: Int?
    }

    struct Side: Hashable, Sendable {
        var log: String
        /// From 1; nil if the log ended before.
        var number: Int?
        var line: String?
        var isComplete: Bool

        init(log: String, number: Int? = nil, line: String? = nil, isComplete: Bool = true) {
            (self.log, self.number, self.line, self.isComplete) = (log, number, line, isComplete)
        }

        init(log: String, line: LogReader.ReadLine?) {
            self.log = log
            number = line?.number
            self.line = line?.line.text
            isComplete = line?.isComplete ?? true
        }

        /// For example `run.log:3`.
        var location: String { number.map { "\(log):\($0)" } ?? log }
    }
}

extension LogDifference: CustomStringConvertible {
    /// Several lines: the location, both lines, and the difference.
    package var description: String {
        let sides = [first, second]
        let width = sides.map(\.location.count).max() ?? 0
        let position = commonLength
        let numbers = Set(sides.compactMap(\.number))
        var lines = ["the logs differ" + (numbers.count == 1 ? numbers.map { " at line \($0)" }.joined() : "")]
        for side in sides {
            let name = side.location + String(repeating: " ", count: width - side.location.count)
            let shown = side.line.map { Excerpt.of($0, around: $0.count > 120 ? position : 0) }
            lines.append("  \(name)  \(shown ?? "(no further line)")")
        }
        lines.append(explanation)
        for side in sides where !side.isComplete {
            lines.append("\(side.log) ends within this line, without a newline: it may be truncated.")
        }
        return lines.joined(separator: "\n")
    }

    var explanation: String {
        switch reason {
        case .message: "The messages differ."
        case .oneEnds: "One log continues where the other ends."
        case .threadEnds:
            "No further thread of \(second.log) writes this line. Its line above is the first without a counterpart."
        case .mention: "The messages mention different threads."
        case .process(let mismatch): describe(mismatch, "by a process", "by the process")
        case .thread(let mismatch): describe(mismatch, "by a thread", "by the thread")
        case .threadNumber(let mismatch): describe(mismatch, "a thread", "the thread", verb: "mentions")
        }
    }

    private func describe(_ mismatch: Mismatch, _ new: String, _ known: String, verb: String = "is written") -> String {
        func describe(_ seen: Int?) -> String {
            seen.map { "\(known) of line \($0)" } ?? "\(new) not seen before"
        }
        return "In \(first.log) the line \(verb) \(describe(mismatch.firstSeen)), "
            + "in \(second.log) \(describe(mismatch.secondSeen))."
    }

    /// The number of characters up to which the two lines are equal, ignoring differences before the message.
    private var commonLength: Int {
        switch reason {
        case .message, .threadNumber, .mention: break
        case .process, .thread, .oneEnds, .threadEnds: return 0
        }
        guard let one = first.line, let other = second.line else { return 0 }
        let (tail, otherTail) = (Self.message(of: one), Self.message(of: other))
        return one.count - tail.count + zip(tail, otherTail).prefix { $0 == $1 }.count
    }

    private static func message(of line: String) -> Substring {
        line.firstIndex(of: "]").map { line[$0...] } ?? line[...]
    }
}
