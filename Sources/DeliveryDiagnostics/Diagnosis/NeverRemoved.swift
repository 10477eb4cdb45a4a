internal import DeliveryRecording

/// Finds observers of a Foundation center that were added at one source location again and again and never removed, so
/// that a post calls more and more handlers.
///
/// A single observer that is left when the program ends is usual.
enum NeverRemoved {
    private struct Key: Hashable {
        var process: Int
        var name: Int32
        var sender: Int32
        var location: Int32
    }

    static func findings(_ words: RecordWords) -> [Finding] {
        let (index, recording) = (words.index, words.recording)
        var added: [Key: [Int32]] = [:]
        for observer in index.observers.indices.map(Int32.init) {
            guard let entry = index.registration(of: observer), entry.isFoundation, entry.location >= 0,
                !recording.isCalledByFoundation(entry)
            else { continue }
            let key = Key(
                process: recording.process(of: entry), name: entry.name, sender: entry.sender, location: entry.location)
            added[key, default: []].append(observer)
        }
        return added.compactMap { key, observers in
            guard observers.count > 1, recording.completeness[key.process] == .complete,
                observers.allSatisfy({ words.removed($0) < 0 })
            else { return nil }
            return Finding(
                kind: .neverRemoved, severity: .note,
                problem:
                    "\(observers.count) observers of \(words.name(key.name)) were added at one source location, and "
                    + "none was removed.",
                evidence: [words.registered(observers[0]), words.registered(observers[observers.count - 1])],
                remedy: "Each of them is called by every post. Keep the token that addObserver returns, and give it to "
                    + "removeObserver when the object that observes is released: NotificationCenter keeps the observer "
                    + "otherwise.",
                weight: observers.count, name: key.name)
        }
    }
}
