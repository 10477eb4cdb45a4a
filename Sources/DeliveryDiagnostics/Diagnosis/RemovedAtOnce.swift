internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds observers that were removed immediately after they were added, before their name was posted without an
/// observer. Usually the program did not keep the token.
enum RemovedAtOnce {
    /// Releasing an unused token takes less than this many nanoseconds.
    private static let longest: UInt64 = 10_000_000

    /// The time from one entry to the other; 0 if a damaged file has descending times.
    private static func lasted(_ added: Int32, _ removed: Int32, _ index: DeliveryIndex) -> UInt64 {
        let (begin, end) = (index.entry(added).time, removed < 0 ? 0 : index.entry(removed).time)
        return end > begin ? end - begin : 0
    }

    static func findings(_ index: DeliveryIndex) -> [Finding] {
        let recording = index.recording
        /// The last removed observer of each name.
        var gone: [UInt64: Int32] = [:]
        var missed: [Int32: (count: Int, first: Int32)] = [:]
        for (entryIndex, entry) in recording.entries.enumerated() {
            let name = UInt64(recording.process(of: entry)) << 32 | UInt64(UInt32(bitPattern: entry.name))
            switch entry.stage {
            case .register:
                gone[name] = nil
            case .remove:
                guard entry.observer >= 0, entry.name >= 0 else { break }
                let added = index.registered[Int(entry.observer)]
                guard added >= 0, index.entry(added).thread == entry.thread,
                    lasted(added, Int32(entryIndex), index) < longest
                else { break }
                gone[name] = entry.observer
            case .post, .capture:
                guard let observer = gone[name] else { break }
                // Another observer matched the post.
                if entry.count > 0 {
                    gone[name] = nil
                } else {
                    missed[observer, default: (0, Int32(entryIndex))].count += 1
                }
            default: break
            }
        }
        for pair in index.pairs where pair.observer >= 0 { missed[pair.observer] = nil }
        let words = DiagnosisWords(index)
        return missed.map { observer, posts in
            let (added, removed) = (index.registered[Int(observer)], index.removed[Int(observer)])
            let lasted = ElapsedTime.text(lasted(added, removed, index))
            let name = index.entry(added).name
            return Finding(
                kind: .removedAtOnce, severity: .problem,
                problem: "\(words.observer(observer, name: name)) was removed \(lasted) after it was added. Then "
                    + "\(words.name(name)) was posted \(words.times(posts.count)) without an observer.",
                evidence: [added, removed, posts.first],
                remedy:
                    "Keep the token that addObserver returns: releasing it removes the observer. An observer that is "
                    + "an object is removed when the object is released.",
                weight: posts.count)
        }
    }
}
