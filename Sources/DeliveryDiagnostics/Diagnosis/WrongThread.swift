internal import DeliveryRecording

/// Finds notifications that were handled on another thread than declared (guarantee 1).
enum WrongThread {
    static func findings(_ words: RecordWords) -> [Finding] {
        let index = words.index
        struct Key: Hashable {
            var observer: Int32
            var name: Int32
            var declared: Int32
            var actual: Int32
        }
        var found: [Key: (count: Int, first: Int32)] = [:]
        for span in index.spans where !span.isWait {
            let entry = index.entry(span.begin)
            let declared = declared(entry, span, index)
            guard declared >= 0, declared != entry.thread else { continue }
            let key = Key(observer: entry.observer, name: entry.name, declared: declared, actual: entry.thread)
            found[key, default: (0, span.begin)].count += 1
        }
        return found.map { key, found in
            Finding(
                kind: .wrongThread, severity: .problem,
                problem: "\(words.observer(key.observer, name: key.name)) should be handled on "
                    + "\(words.thread(key.declared)) but was handled on \(words.thread(key.actual)) "
                    + "\(words.times(found.count)).",
                evidence: [words.registered(key.observer), words.posted(index.entry(found.first)), found.first],
                remedy:
                    "Only the center should call the handler. If no other code calls it, report this recording as a "
                    + "bug of the library.",
                weight: found.count, name: key.name)
        }
    }

    /// The thread that was declared to handle it; -1 if none was.
    private static func declared(
        _ entry: Recording.Entry, _ span: RecordingIndex.Span, _ index: RecordingIndex
    ) -> Int32 {
        if let declared = index.registration(of: entry.observer)?.target, declared >= 0 { return declared }
        let append = span.delivery < 0 ? -1 : index.deliveries[Int(span.delivery)].append
        if append >= 0, index.entry(append).target >= 0 { return index.entry(append).target }
        return entry.target
    }
}
