internal import DeliveryRecording

/// Finds observers of a Foundation center that were removed although they had been removed before. The center reuses
/// the keys of removed observers, so the second removal may remove another observer.
enum RemovedTwice {
    static func findings(_ evidence: Evidence) -> [Finding] {
        let words = evidence.words
        let index = words.index
        /// By observer; -1 if the records do not name it.
        var found: [Int32: (count: Int, first: Int32)] = [:]
        for number in index.records(of: .remove) where index.entry(number).reason == .alreadyRemoved {
            found[index.entry(number).observer, default: (0, number)].count += 1
        }
        return found.map { observer, found in
            let subject = observer < 0 ? "An observer" : words.observer(observer)
            return Finding(
                severity: .problem,
                problem:
                    "\(subject) was removed again \(words.times(found.count)) after it had been removed. On Linux, "
                    + "that may remove the observer that was added since then.",
                evidence: [words.registered(observer), words.removed(observer), found.first],
                remedy:
                    "Remove a token once: set the variable that holds it to nil, and call removeObserver only if it "
                    + "is not nil.",
                weight: found.count, name: words.index.entry(found.first).name)
        }
    }
}
