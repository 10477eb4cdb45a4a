internal import ThreadedNotifications

/// Posted before anybody observed it, by a program in which somebody later does.
enum PostedUnobserved {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        let recording = index.recording
        var found: [UInt64: (count: Int, first: Int32)] = [:]
        /// The names that were observed by then, of each process; and the processes that observe any name.
        var observed: Set<UInt64> = []
        var findings: [Finding] = []
        let words = DiagnosisWords(index)
        for (place, entry) in recording.entries.enumerated() {
            let process = UInt64(recording.process(of: entry)) << 32
            let name = process | UInt64(UInt32(bitPattern: entry.name))
            switch entry.stage {
            case .register:
                guard observed.insert(name).inserted, entry.name >= 0, let posts = found[name] else { break }
                let posted = index.entry(posts.first)
                // Who asks for another sender's has missed nothing.
                guard entry.sender < 0 || posted.sender < 0 || entry.sender == posted.sender else { break }
                findings.append(
                    Finding(
                        kind: .postedUnobserved, severity: .problem,
                        problem: "\(words.name(entry.name)) was posted \(words.times(posts.count)) before anybody "
                            + "observed it.",
                        evidence: [posts.first, Int32(place)],
                        remedy: "Add the observer before what posts is started. What was posted before is not kept for "
                            + "it: let it ask for the state once, after it was added.",
                        weight: posts.count))
            case .post, .capture:
                guard entry.name >= 0, entry.count <= 0, !observed.contains(process | UInt64(UInt32.max))
                else { break }
                // The document's technique captures what it has posted.
                if entry.stage == .capture, entry.post >= 0, index.posted[Int(entry.post)] != Int32(place) { break }
                found[name, default: (0, Int32(place))].count += 1
            default: break
            }
        }
        return findings
    }
}
