internal import DeliveryRecording

/// Finds notifications that were handled on another thread than declared (guarantee 1), and handlers of a Foundation
/// center that ran on another thread although their observer was added on main.
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
            if entry.isFoundation { return finding(key, found.count, found.first, words) }
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

    /// A handler of an observer of a Foundation center.
    private static func finding(
        _ key: [Int32], _ count: Int, _ first: RecordingIndex.Span, _ words: RecordWords
    ) -> Finding {
        let entry = words.index.entry(first.begin)
        let main = words.thread(key[2])
        return Finding(
            kind: .wrongThread, severity: .problem,
            problem: "\(words.observer(of: first)) was added on \(main), but its handler ran on "
                + "\(words.thread(entry.thread)) \(words.times(count)), because NotificationCenter calls handlers on the "
                + "thread that posts.",
            evidence: [words.registered(entry.observer), words.posted(entry), first.begin],
            remedy: "Observe with ThreadedNotificationCenter: addObserver(forName:on: .main), or post on \(main). "
                + "NotificationCenter's addObserver(queue: .main) also runs the handler on \(main), but the post then "
                + "waits for it. If any thread may run the handler, accept this finding.",
            weight: count, name: entry.name)
    }

    /// The thread that was declared to handle it; -1 if none was.
    private static func declared(
        _ entry: Recording.Entry, _ span: RecordingIndex.Span, _ index: RecordingIndex
    ) -> Int32 {
        let registration = index.registration(of: entry.observer)
        if entry.isAsyncHandlerOfFoundation { return -1 }
        if entry.isFoundation { return registration.map(index.expectedThread) ?? -1 }
        if let declared = registration?.target, declared >= 0 { return declared }
        let append = span.delivery < 0 ? -1 : index.deliveries[Int(span.delivery)].append
        if append >= 0, index.entry(append).target >= 0 { return index.entry(append).target }
        return entry.target
    }
}
