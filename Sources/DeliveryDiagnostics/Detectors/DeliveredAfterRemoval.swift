internal import DeliveryRecording

extension Detector {
    /// Finds observers that were not removed as intended: their handlers still began, or they were removed twice.
    static let deliveredAfterRemoval = Detector(
        "deliveredAfterRemoval", "a handler began after its observer was removed, or an observer was removed twice",
        formerly: ["removedTwice"]
    ) { $0.deliveredAfterRemoval + $0.removedTwice }
}

extension Evidence {
    /// Handlers that began after their observer had been removed (guarantee 6).
    ///
    /// A handler that was running during the removal may be recorded after it. The removal's record has the number of
    /// these.
    fileprivate var deliveredAfterRemoval: [Finding] {
        let late = index.spans.filter { span in
            let removed = words.removed(index.observer(of: span))
            return removed >= 0 && removed < span.begin
        }
        return late.grouped(by: index.observer).compactMap { spans in
            let observer = index.observer(of: spans[0])
            let removed = words.removed(observer)
            let running = index.entry(removed).count
            // The removing thread's own later deliveries were not running during the removal. A removal without the
            // number of running handlers says nothing of other threads.
            let own = spans.count { index.entry(removed).thread == $0.thread && !index.hasNoTarget($0) }
            let count = own + (running < 0 ? 0 : max(0, spans.count - own - Int(running)))
            guard count > 0 else { return nil }
            return Finding(
                problem: "\(words.observer(observer)) received \(counted(count, "notification")) after it was removed.",
                evidence: [words.registered(observer), removed, spans[spans.count - 1].begin],
                remedy: index.registration(of: observer)?.isFoundation == true
                    ? "NotificationCenter still calls observers that are removed during a post, and does not wait for "
                        + "handlers of other threads. Let the handler check whether it is still wanted, or observe with "
                        + "ThreadedNotificationCenter: its cancelAndWait() returns when no handler runs or will run."
                    : "Call cancelAndWait() before you release anything that the handler uses. If no handler was "
                        + "running during the removal, report this recording as a bug of the library.", weight: count,
                name: observedName(observer))
        }
    }

    /// Observers of a Foundation center that were removed although they had been removed before. The center reuses the
    /// keys of removed observers, so the second removal may remove another observer.
    fileprivate var removedTwice: [Finding] {
        let again = index.records(of: .remove).filter { index.entry($0).reason == .alreadyRemoved }
        // Records need not name the observer.
        return again.grouped { index.entry($0).observer }.map { removals in
            let entry = index.entry(removals[0])
            return Finding(
                problem: "\(entry.observer < 0 ? "An observer" : words.observer(entry.observer)) was removed again "
                    + "\(words.times(removals.count)) after it had been removed. On Linux, that may remove the observer "
                    + "that was added since then.",
                evidence: [words.registered(entry.observer), words.removed(entry.observer), removals[0]],
                remedy:
                    "Remove a token once: set the variable that holds it to nil, and call removeObserver only if it "
                    + "is not nil.", weight: removals.count, name: entry.name, formerKind: "removedTwice")
        }
    }
}
