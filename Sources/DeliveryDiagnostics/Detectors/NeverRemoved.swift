internal import DeliveryRecording

extension Detector {
    private struct Key: Hashable {
        var process: Int
        var name: Int32
        var sender: Int32
        /// A thread of its own for each observer is usual.
        var target: Int32
        var location: Int32
    }

    /// Finds observers that were added at one source location again and again and never removed, so that a post calls more
    /// and more handlers. Often the handler keeps the object that should remove it.
    ///
    /// A single observer that is left when the program ends is usual.
    static let neverRemoved = Detector(
        "neverRemoved", "observers are added at one source location again and again, and never removed"
    ) { evidence in
        let words = evidence.words
        let (index, recording) = (words.index, words.recording)
        var added: [Key: [Int32]] = [:]
        for observer in index.observers.indices.map(Int32.init) {
            guard let entry = index.registration(of: observer), entry.location >= 0,
                !recording.isCalledByFoundation(entry)
            else { continue }
            let key = Key(
                process: recording.process(of: entry), name: entry.name, sender: entry.sender, target: entry.target,
                location: entry.location)
            added[key, default: []].append(observer)
        }
        return added.compactMap { key, observers in
            guard observers.count > 1, recording.completeness[key.process] == .complete,
                observers.allSatisfy({ words.removed($0) < 0 })
            else { return nil }
            return Finding(
                severity: .note,
                problem:
                    "\(observers.count) observers of \(words.name(key.name)) were added at one source location, and "
                    + "none was removed.",
                evidence: [words.registered(observers[0]), words.registered(observers[observers.count - 1])],
                remedy: (index.registration(of: observers[0])?.isFoundation == true
                    ? "Keep the token that addObserver returns, and give it to removeObserver when the object that "
                        + "observes is released: NotificationCenter keeps the observer otherwise. "
                    : "Keep the token in the object that observes: the observer is removed when the token is "
                        + "released. ")
                    + "If the handler uses the object, write [weak self] in it: otherwise the handler keeps the "
                    + "object, and the object is never released.", weight: observers.count, name: key.name)
        }
    }
}
