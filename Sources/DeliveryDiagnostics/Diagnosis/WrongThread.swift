internal import DeliveryRecording

/// Finds notifications that were handled on another thread than declared (guarantee 1).
enum WrongThread {
    static func findings(_ words: RecordWords) -> [Finding] {
        let index = words.index
        /// By observer, name, declared and actual thread.
        var found: [[Int32]: (count: Int, first: RecordingIndex.Span)] = [:]
        for span in index.spans where !span.isWait {
            let entry = index.entry(span.begin)
            let declared = declared(entry, span, index)
            guard declared >= 0, declared != entry.thread else { continue }
            found[[entry.observer, entry.name, declared, entry.thread], default: (0, span)].count += 1
        }
        return found.map { key, found in
            let entry = index.entry(found.first.begin)
            return Finding(
                kind: .wrongThread, severity: .problem,
                problem: "\(words.observer(of: found.first)) should be handled on \(words.thread(key[2])) but was "
                    + "handled on \(words.thread(entry.thread)) \(words.times(found.count)).",
                evidence: [words.registered(entry.observer), words.posted(entry), found.first.begin],
                remedy:
                    "Only the center should call the handler. If no other code calls it, report this recording as a "
                    + "bug of the library.",
                weight: found.count, name: entry.name)
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
