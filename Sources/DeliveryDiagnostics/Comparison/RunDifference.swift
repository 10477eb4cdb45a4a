package import DeliveryRecording
internal import ThreadedNotifications

/// A difference of two runs. Everything that happened before the first one is the same in both.
package struct RunDifference: Sendable {
    package enum Reason: String, Sendable, CaseIterable, Codable {
        /// The first run has a record that the second does not have.
        case onlyInFirst
        /// The second run has a record that the first does not have.
        case onlyInSecond
        /// One log continues where the other ends.
        case oneEnds
        /// No thread of the second log writes the line. The second side is its first line without a counterpart.
        case threadEnds
        /// Different stages.
        case stage
        /// Different notifications.
        case name
        /// Different posts.
        case post
        /// Different observers.
        case observer
        /// Different processes, in the order of the files.
        case process
        /// Different threads, in the order of the files.
        case thread
        /// Different target threads.
        case target
        /// Different related posts.
        case relatedPost
        /// Different numbers of matching observers.
        case count
        /// Different types of senders.
        case sender
        /// Different posting styles, policies, counters or ends.
        case details
        /// Different messages.
        case message
        /// The messages mention different threads.
        case mention
        /// The runs ended in different ways.
        case end
        /// One run has a record that the other, truncated recording does not have. The runs may or may not differ.
        case truncated
    }

    /// The record or line of one run.
    package struct Side: Sendable {
        /// The path of the file.
        package var source: String
        /// Index in `entries`; nil if the run has no such record.
        package var index: Int?
        /// Line of the file, from 1.
        package var line: Int?
        package var thread: String?
        package var stage: DeliveryStage?
        /// A description of the record, or the line of the log.
        package var text: String
        /// True if the log ends within the line.
        package var isTruncated = false
        var isLog = false
    }

    package var reason: Reason
    package var first: Side
    package var second: Side
    /// Sentences that explain the difference.
    package var explanation: [String]
}

extension RunDifference {
    /// The same difference with the runs exchanged.
    var reversed: RunDifference {
        var reversed = self
        (reversed.first, reversed.second) = (second, first)
        if reason == .onlyInFirst { reversed.reason = .onlyInSecond }
        if reason == .onlyInSecond { reversed.reason = .onlyInFirst }
        return reversed
    }
}

extension RunDifference.Side {
    /// - Parameter reason: the property that differs. The text mentions it even if the record has no value for it.
    init(_ run: ComparedRun, _ index: Int?, reason: RunDifference.Reason? = nil) {
        let recording = run.recording
        self.init(source: recording.source, text: run.log == nil ? "(no record)" : "(no further line)")
        isLog = run.log != nil
        guard let index else { return }
        let entry = recording.entries[index]
        self.index = index
        line = Int(entry.line)
        if let log = run.log {
            (text, isTruncated) = (log.line(index), log.isTruncated(index))
        } else {
            thread = recording.describeThread(entry.thread)
            stage = entry.stage
            text = recording.describe(entry, showing: reason)
        }
    }

    /// For example `run.jsonl:3`.
    package var location: String { line.map { "\(source):\($0)" } ?? source }
}

extension RunDifference: CustomStringConvertible {
    /// Several lines: both sides and the explanation.
    package var description: String {
        let sides = [first, second]
        let width = sides.map(\.location.count).max() ?? 0
        let threadWidth = sides.map { $0.thread?.count ?? 0 }.max() ?? 0
        let lines = sides.map { side in
            let location = side.location.padding(to: width)
            if side.isLog {
                let isLong = side.index != nil && side.text.count > 120
                return "  \(location)  \(Excerpt.of(side.text, around: isLong ? commonLength : 0))"
            }
            let thread = threadWidth == 0 ? "" : "  " + (side.thread ?? "").padding(to: threadWidth)
            return Excerpt.of("  \(location)\(thread)  \(side.text)", length: 240)
        }
        let truncated = sides.filter(\.isTruncated).map {
            "\($0.source) ends within this line, without a newline: it may be truncated."
        }
        return (lines + explanation + truncated).joined(separator: "\n")
    }

    /// The number of characters up to which the two lines are equal, ignoring differences before the message.
    private var commonLength: Int {
        guard reason == .message || reason == .mention else { return 0 }
        let (tail, otherTail) = (Self.message(of: first.text), Self.message(of: second.text))
        return first.text.count - tail.count + zip(tail, otherTail).prefix { $0 == $1 }.count
    }

    private static func message(of line: String) -> Substring {
        line.firstIndex(of: "]").map { line[$0...] } ?? line[...]
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Recording {
    /// Describes a record, without its thread.
    /// - Parameter reason: the property to mention even if the record has no value for it.
    func describe(_ entry: Entry, showing reason: RunDifference.Reason? = nil) -> String {
        var words = [entry.stage == .log ? "logs" : entry.stage.rawValue]
        if let name = name(of: entry) {
            words.append(name)
        } else if entry.post >= 0, entry.observer < 0 {
            words.append("block")
        }
        if entry.post >= 0 { words.append(describePost(entry.post)) }
        if entry.observer >= 0 {
            words.append("\(entry.stage == .register ? "" : "for ")\(describeObserver(entry.observer))")
        }
        if reason == .sender { words.append(describeSender(of: entry)) }
        if reason == .target {
            words.append("to be handled on \(describeTarget(of: entry))")
        } else if entry.target >= 0, entry.target != entry.thread {
            words.append("to be handled on \(describeThread(entry.target))")
        }
        if reason == .relatedPost {
            words.append(entry.relatedPost < 0 ? "by no other post" : "by \(describePost(entry.relatedPost))")
        }
        if entry.count >= 0, [.post, .capture].contains(entry.stage) {
            words.append("(\(entry.count) \(entry.count == 1 ? "observer" : "observers"))")
        }
        if let details = details(of: entry) { words.append("\"\(Excerpt.of(details))\"") }
        var locations: [String] = []
        if let location = place(of: entry) {
            locations.append("at \(location)")
        } else {
            if let location = self.location(of: entry.post, in: [.enqueue, .post], by: \.post) {
                locations.append("posted at \(location)")
            }
            if let location = self.location(of: entry.observer, in: [.register], by: \.observer) {
                locations.append("observer added at \(location)")
            }
        }
        if !locations.isEmpty { words.append("(\(locations.joined(separator: ", ")))") }
        return words.joined(separator: " ")
    }

    /// Only the type, because only the type is compared.
    private func describeSender(of entry: Entry) -> String {
        guard let sender = sender(of: entry) else {
            return entry.stage == .register ? "from any sender" : "from no sender"
        }
        return sender.type.isEmpty ? "from a sender of unknown type" : "from \(Excerpt.of(sender.type))"
    }

    private func describeTarget(of entry: Entry) -> String {
        guard entry.target >= 0 else {
            return entry.stage == .register ? "the posting thread" : "an unknown thread"
        }
        let words = describeThread(entry.target)
        let identity = threads[Int(entry.target)].identity
        let isShared = identity.name != nil && threads.count { $0.identity.name == identity.name } > 1
        return isShared ? "\(words) (thread \(identity.number))" : words
    }

    private func location(
        of number: Int32, in stages: [DeliveryStage], by key: KeyPath<Entry, Int32>
    ) -> SourceLocation? {
        guard number >= 0 else { return nil }
        return entries.first { $0.place >= 0 && $0[keyPath: key] == number && stages.contains($0.stage) }
            .flatMap { place(of: $0) }
    }
}
