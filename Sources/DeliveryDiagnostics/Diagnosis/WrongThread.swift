internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds notifications that were handled on another thread than declared (guarantee 1).
enum WrongThread {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        struct Key: Hashable {
            var observer: Int32
            var name: Int32
            var declared: Int32
            var actual: Int32
        }
        var found: [Key: (count: Int, first: Int32)] = [:]
        for (entryIndex, entry) in index.recording.entries.enumerated() where entry.stage == .deliver {
            let declared = declared(entry, entryIndex, index)
            guard declared >= 0, declared != entry.thread else { continue }
            let key = Key(observer: entry.observer, name: entry.name, declared: declared, actual: entry.thread)
            found[key, default: (0, Int32(entryIndex))].count += 1
        }
        let words = DiagnosisWords(index)
        return found.map { key, found in
            let entry = index.entry(found.first)
            let registered = key.observer >= 0 ? index.registered[Int(key.observer)] : -1
            let posted = entry.post >= 0 ? index.posted[Int(entry.post)] : -1
            return Finding(
                kind: .wrongThread, severity: .problem,
                problem: "\(words.observer(key.observer, name: key.name)) should be handled on "
                    + "\(words.thread(key.declared)) but was handled on \(words.thread(key.actual)) "
                    + "\(words.times(found.count)).",
                evidence: [registered, posted, found.first].filter { $0 >= 0 },
                remedy:
                    "Only the center should call the handler. If no other code calls it, report this recording as a "
                    + "bug of the library.",
                weight: found.count)
        }
    }

    /// The thread that was declared to handle it; -1 if none was.
    private static func declared(_ entry: Recording.Entry, _ entryIndex: Int, _ index: DeliveryIndex) -> Int32 {
        if entry.observer >= 0, index.registered[Int(entry.observer)] >= 0 {
            let declared = index.entry(index.registered[Int(entry.observer)]).target
            if declared >= 0 { return declared }
        }
        let pair = index.pairOfEntry[entryIndex]
        if pair >= 0, index.pairs[Int(pair)].append >= 0 {
            let declared = index.entry(index.pairs[Int(pair)].append).target
            if declared >= 0 { return declared }
        }
        return entry.target
    }
}
