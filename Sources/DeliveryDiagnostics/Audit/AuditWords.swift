internal import DeliveryRecording
internal import ThreadedNotifications

/// Describes records, posts and observers in sentences.
package struct AuditWords {
    let index: DeliveryIndex

    package init(index: DeliveryIndex) {
        self.index = index
    }

    var recording: Recording { index.recording }

    /// For example `#3 of Name, posted by main at Demo/main.swift:12 (line 7),`.
    func post(_ post: Int32) -> String {
        var text = recording.describePost(post)
        let entryIndex = index.posted[Int(post)] >= 0 ? index.posted[Int(post)] : index.enqueued[Int(post)]
        guard entryIndex >= 0 else { return text }
        let entry = index.entry(entryIndex)
        if let name = recording.name(of: entry) { text += " of \(Excerpt.of(name))" }
        let verb = entry.stage == .enqueue ? "enqueued" : "posted"
        text += ", \(verb) by \(recording.describeThread(entry.thread))"
        // The location of `enqueue` is the caller's; the location of a queue's `post` is the queue's.
        let source = index.enqueued[Int(post)] >= 0 ? index.entry(index.enqueued[Int(post)]) : entry
        if let location = recording.place(of: source) { text += " at \(Excerpt.of(location.description))" }
        return text + " (line \(entry.line)),"
    }

    /// For example `deliver on worker, line 9`.
    func record(_ entryIndex: Int32) -> String {
        let entry = index.entry(entryIndex)
        return "\(entry.stage.rawValue) on \(recording.describeThread(entry.thread)), line \(entry.line)"
    }

    func observer(_ pair: DeliveryIndex.Pair) -> String {
        pair.observer >= 0
            ? recording.describeObserver(pair.observer) : pair.kind == .block ? "the block" : "its observer"
    }

    func observers(_ count: Int32) -> String { "\(count) observer\(count == 1 ? "" : "s")" }

    /// For example ` for observer 3`; empty if there is no observer.
    func forObserver(_ pair: DeliveryIndex.Pair) -> String {
        pair.observer >= 0 ? " for \(recording.describeObserver(pair.observer))" : ""
    }

    /// The observers that were registered for the post's name when it was posted, and have no record for this post.
    /// Looks at every observer.
    package func couldHaveMatched(_ post: Int32) -> [Int32] {
        let posted = index.posted[Int(post)]
        let entry = index.entry(posted)
        let process = recording.process(of: entry)
        return index.registered.indices.compactMap { observer in
            let registered = index.registered[observer]
            guard registered >= 0, registered < posted, !index.hasPair(post, Int32(observer)) else { return nil }
            let removed = index.removed[observer]
            let registration = index.entry(registered)
            guard recording.process(of: registration) == process, removed < 0 || removed > posted,
                registration.name < 0 || registration.name == entry.name,
                registration.sender < 0 || entry.sender < 0 || registration.sender == entry.sender
            else { return nil }
            return Int32(observer)
        }
    }
}
