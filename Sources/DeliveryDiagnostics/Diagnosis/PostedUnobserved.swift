internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds posts that were made before the program added the first observer of their name.
enum PostedUnobserved {
    static func findings(_ index: RecordingIndex) -> [Finding] {
        let recording = index.recording
        /// By name and sender.
        var found: [UInt64: [Int32: (count: Int, first: Int32)]] = [:]
        /// The names observed so far, with their process. Name -1 stands for an observer of any name.
        var observed: Set<UInt64> = []
        var findings: [Finding] = []
        let words = RecordWords(index)
        for (number, entry) in recording.entries.enumerated() {
            let process = UInt64(recording.process(of: entry)) << 32
            let name = process | UInt64(UInt32(bitPattern: entry.name))
            switch entry.stage {
            case .register:
                guard observed.insert(name).inserted, entry.name >= 0, let senders = found[name] else { break }
                // An observer of one sender missed only that sender's posts.
                let posts = senders.filter { entry.sender < 0 || entry.sender == $0.key }.values
                guard let first = posts.map(\.first).min() else { break }
                let count = posts.reduce(0) { $0 + $1.count }
                findings.append(
                    Finding(
                        kind: .postedUnobserved, severity: .problem,
                        problem: "\(words.name(entry.name)) was posted \(words.times(count)) before it had "
                            + "an observer.",
                        evidence: [first, Int32(number)],
                        remedy:
                            "Add the observer before you start the poster. Earlier posts are not kept: let the "
                            + "observer query the current state once after it was added.",
                        weight: count, name: entry.name))
            case .post, .capture:
                guard entry.name >= 0, entry.count <= 0, !observed.contains(process | UInt64(UInt32.max))
                else { break }
                // The document's technique also records a `capture` for each `post`.
                if entry.post >= 0, index.posts[Int(entry.post)].posted != Int32(number) { break }
                found[name, default: [:]][entry.sender, default: (0, Int32(number))].count += 1
            default: break
            }
        }
        return findings
    }
}
