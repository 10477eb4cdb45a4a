internal import DeliveryRecording

extension Detector {
    /// Finds observers that were added at one source location again and again and never removed, so that a post calls more
    /// and more handlers. Often the handler keeps the object that should remove it.
    ///
    /// A single observer that is left when the program ends is usual, and so is a thread of its own for each observer.
    static let neverRemoved = Detector(
        "neverRemoved", "observers are added at one source location again and again, and never removed"
    ) { evidence in
        let (words, recording) = (evidence.words, evidence.recording)
        let added = evidence.index.observers.indices.compactMap { evidence.index.registration(of: Int32($0)) }.filter {
            $0.location >= 0 && !recording.isCalledByFoundation($0)
        }
        return added.grouped { [Int32(recording.process(of: $0)), $0.name, $0.sender, $0.target, $0.location] }
            .compactMap { added in
                let observers = added.map(\.observer)
                guard observers.count > 1, recording.completeness[recording.process(of: added[0])] == .complete,
                    observers.allSatisfy({ words.removed($0) < 0 })
                else { return nil }
                return Finding(
                    severity: .note,
                    problem: "\(observers.count) observers of \(words.name(added[0].name)) were added at one source "
                        + "location, and none was removed.",
                    evidence: [words.registered(observers[0]), words.registered(observers[observers.count - 1])],
                    remedy: (added[0].isFoundation
                        ? "Keep the token that addObserver returns, and give it to removeObserver when the object that "
                            + "observes is released: NotificationCenter keeps the observer otherwise. "
                        : "Keep the token in the object that observes: the observer is removed when the token is "
                            + "released. ")
                        + "If the handler uses the object, write [weak self] in it: otherwise the handler keeps the "
                        + "object, and the object is never released.", weight: observers.count, name: added[0].name)
            }
    }
}
