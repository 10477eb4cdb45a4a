internal import DeliveryRecording

/// Finds handlers that began after their observer had been removed (guarantee 6).
///
/// A handler that was running during the removal may be recorded after it. The removal's record has the number of
/// these.
enum DeliveredAfterRemoval {
    private static let foundationRemedy =
        "NotificationCenter still calls observers that are removed during a post, and does not wait for handlers of "
        + "other threads. Let the handler check whether it is still wanted, or observe with ThreadedNotificationCenter: "
        + "its cancelAndWait() returns when no handler runs or will run."

    static func findings(_ evidence: Evidence) -> [Finding] {
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
                        + "running during the removal, report this recording as a bug of the library.",
                weight: count, name: index.registration(of: observer)?.name ?? -1)
        }
    }
}

extension Finding.Kind {
    static let deliveredAfterRemoval = Finding.Kind(
        "deliveredAfterRemoval", "a handler began after its observer was removed, or an observer was removed twice")
}
