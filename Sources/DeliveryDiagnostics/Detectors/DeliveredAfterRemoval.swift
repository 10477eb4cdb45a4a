internal import DeliveryRecording

extension Detector {
    private static let foundationRemedy =
        "NotificationCenter still calls observers that are removed during a post, and does not wait for handlers of "
        + "other threads. Let the handler check whether it is still wanted, or observe with ThreadedNotificationCenter: "
        + "its cancelAndWait() returns when no handler runs or will run."

    /// Finds observers that were not removed as intended: their handlers still began, or they were removed twice.
    static let deliveredAfterRemoval = Detector(
        "deliveredAfterRemoval", "a handler began after its observer was removed, or an observer was removed twice",
        formerly: ["removedTwice"]
    ) { delivered($0) + removedTwice($0) }

    /// Handlers that began after their observer had been removed (guarantee 6).
    ///
    /// A handler that was running during the removal may be recorded after it. The removal's record has the number of
    /// these.
    private static func delivered(_ evidence: Evidence) -> [Finding] {
        let words = evidence.words
        let index = words.index
        var found: [Int32: (count: Int, sameThread: Int, last: Int32)] = [:]
        for span in index.spans where !span.isWait {
            let observer = index.entry(span.begin).observer
            guard observer >= 0 else { continue }
            let removed = index.observers[Int(observer)].removed
            guard removed >= 0, removed < span.begin else { continue }
            found[observer, default: (0, 0, -1)].count += 1
            found[observer]?.last = span.begin
            // The removing thread's own later deliveries were not running during the removal.
            if index.entry(removed).thread == span.thread, !index.hasNoTarget(span) { found[observer]?.sameThread += 1 }
        }
        return found.compactMap { observer, found in
            let removed = index.observers[Int(observer)].removed
            let running = index.entry(removed).count
            // A removal without the number of running handlers says nothing of other threads.
            let count = found.sameThread + (running < 0 ? 0 : max(0, found.count - found.sameThread - Int(running)))
            guard count > 0 else { return nil }
            return Finding(
                severity: .problem,
                problem: "\(words.observer(observer)) received \(counted(count, "notification")) after it was removed.",
                evidence: [words.registered(observer), removed, found.last],
                remedy: index.registration(of: observer)?.isFoundation == true
                    ? foundationRemedy
                    : "Call cancelAndWait() before you release anything that the handler uses. If no handler was "
                        + "running during the removal, report this recording as a bug of the library.", weight: count,
                name: index.registration(of: observer)?.name ?? -1)
        }
    }

    /// Observers of a Foundation center that were removed although they had been removed before. The center reuses the
    /// keys of removed observers, so the second removal may remove another observer.
    private static func removedTwice(_ evidence: Evidence) -> [Finding] {
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
                    + "is not nil.", weight: found.count, name: words.index.entry(found.first).name,
                formerKind: "removedTwice")
        }
    }
}
