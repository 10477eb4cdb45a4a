internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds observers that were removed immediately after they were added, before their name was posted without an
/// observer. Usually the program did not keep the token.
enum RemovedAtOnce {
    /// Releasing an unused token takes less than this many nanoseconds.
    private static let longest: UInt64 = 10_000_000

    static func findings(_ index: RecordingIndex) -> [Finding] {
        let recording = index.recording
        /// The last removed observer of each name.
        var gone: [UInt64: Int32] = [:]
        var missed: [Int32: (count: Int, first: Int32)] = [:]
        for (number, entry) in recording.entries.enumerated() {
            let name = UInt64(recording.process(of: entry)) << 32 | UInt64(UInt32(bitPattern: entry.name))
            switch entry.stage {
            case .register:
                gone[name] = nil
            case .remove:
                guard entry.name >= 0, let added = index.registration(of: entry.observer), added.thread == entry.thread,
                    index.time(from: index.observers[Int(entry.observer)].registered, to: Int32(number)) < longest
                else { break }
                gone[name] = entry.observer
            case .post, .capture:
                guard !gone.isEmpty, let observer = gone[name] else { break }
                // Another observer matched the post.
                if entry.count > 0 {
                    gone[name] = nil
                } else {
                    missed[observer, default: (0, Int32(number))].count += 1
                }
            default: break
            }
        }
        guard !missed.isEmpty else { return [] }
        for delivery in index.deliveries where delivery.observer >= 0 { missed[delivery.observer] = nil }
        let words = RecordWords(index)
        return missed.map { observer, posts in
            let (added, removed) = (words.registered(observer), index.observers[Int(observer)].removed)
            let name = index.entry(added).name
            return Finding(
                kind: .removedAtOnce, severity: .problem,
                problem: "\(words.observer(observer)) was removed "
                    + "\(ElapsedTime.text(removed < 0 ? 0 : index.time(from: added, to: removed))) after it was added. "
                    + "Then \(words.name(name)) was posted \(words.times(posts.count)) without an observer.",
                evidence: [added, removed, posts.first],
                remedy:
                    "Keep the token that addObserver returns: releasing it removes the observer. An observer that is "
                    + "an object is removed when the object is released.",
                weight: posts.count, name: name)
        }
    }
}
