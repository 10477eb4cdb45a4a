extension Recording {
    /// Gives records of Foundation's center what their lines leave out: the name of their post or observer, and to a
    /// `post`, which is recorded before its observers are known, their number.
    ///
    /// The post of a `NotificationQueue` has the source location of its `enqueue`, as that of a `PostingQueue` has.
    /// The number is that of its `postEnd`, and of the captures by centers of the library, which are observers too.
    ///
    /// - Parameter position: the index of details, which may be new.
    mutating func completeFoundationRecords(position: (FoundationDetails) -> Int32) {
        var namesOfPosts = [Int32](repeating: -1, count: posts.count)
        var namesOfObservers = [Int32](repeating: -1, count: observers.count)
        var handlers = [Int32](repeating: -1, count: posts.count)
        var captures = [Int32](repeating: 0, count: posts.count)
        for entry in entries {
            if entry.post >= 0, entry.name >= 0 { namesOfPosts[Int(entry.post)] = entry.name }
            if entry.stage == .register, entry.observer >= 0 { namesOfObservers[Int(entry.observer)] = entry.name }
            // An asynchronous message has no number, because its handlers are called later.
            if entry.stage == .postEnd, entry.post >= 0 { handlers[Int(entry.post)] = entry.count }
            if entry.stage == .capture, entry.relatedPost >= 0 { captures[Int(entry.relatedPost)] += 1 }
        }
        /// The last `enqueue` of a notification that was not posted yet.
        var enqueued: [Queued: Entry] = [:]
        for index in entries.indices {
            let entry = entries[index]
            if entry.isFoundation, entry.stage == .enqueue {
                enqueued[Queued(entry)] = entry
            } else if entry.stage == .post, var details = foundationDetails(of: entry), details.isCalledByFoundation,
                let enqueue = enqueued.removeValue(forKey: Queued(entry))
            {
                entries[index].location = enqueue.location
                details.isCalledByFoundation = isCalledByFoundation(enqueue)
                entries[index].foundation = position(details)
            }
            if entry.isFoundation, entry.name < 0, entry.stage != .register {
                if entry.post >= 0 {
                    entries[index].name = namesOfPosts[Int(entry.post)]
                } else if entry.observer >= 0 {
                    entries[index].name = namesOfObservers[Int(entry.observer)]
                }
            }
            if entry.stage == .post, entry.count < 0, entry.post >= 0, handlers[Int(entry.post)] >= 0 {
                entries[index].count = handlers[Int(entry.post)] &+ captures[Int(entry.post)]
            }
        }
    }

    /// A notification in the `NotificationQueue` of a thread. Those with the same name and object are coalesced.
    private struct Queued: Hashable {
        var thread: Int32
        var name: Int32
        var sender: Int32

        init(_ entry: Entry) { (thread, name, sender) = (entry.thread, entry.name, entry.sender) }
    }
}
