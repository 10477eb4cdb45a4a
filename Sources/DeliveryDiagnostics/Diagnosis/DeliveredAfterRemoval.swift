internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds handlers that began after their observer had been removed (guarantee 6).
///
/// A handler that was running during the removal may be recorded after it. The removal's record has the number of
/// these.
enum DeliveredAfterRemoval {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        var found: [Int32: (count: Int, sameThread: Int, last: Int32)] = [:]
        for (entryIndex, entry) in index.recording.entries.enumerated()
        where entry.stage == .deliver && entry.observer >= 0 {
            let removed = index.removed[Int(entry.observer)]
            guard removed >= 0, removed < Int32(entryIndex) else { continue }
            var all = found[entry.observer] ?? (0, 0, Int32(entryIndex))
            all.count += 1
            // The removing thread's own later deliveries were not running during the removal.
            if index.entry(removed).thread == entry.thread { all.sameThread += 1 }
            all.last = Int32(entryIndex)
            found[entry.observer] = all
        }
        let words = DiagnosisWords(index)
        return found.compactMap { observer, found in
            let removed = index.removed[Int(observer)]
            let running = index.entry(removed).count
            // Older recordings do not have the number of running handlers.
            let others = found.count - found.sameThread
            let count = found.sameThread + (running < 0 ? 0 : max(0, others - Int(running)))
            guard count > 0 else { return nil }
            return Finding(
                kind: .deliveredAfterRemoval, severity: .problem,
                problem: "\(words.observer(observer)) received \(words.count(count, "notification")) after it was "
                    + "removed.",
                evidence: [index.registered[Int(observer)], removed, found.last].filter { $0 >= 0 },
                remedy:
                    "Call cancelAndWait() before you release anything that the handler uses. If no handler was "
                    + "running during the removal, report this recording as a bug of the library.",
                weight: count)
        }
    }
}
