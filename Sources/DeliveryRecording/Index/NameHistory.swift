/// The posts and the observers of one name in one process.
package struct NameHistory: Sendable {
    package let process: Int32
    /// -1 for observers of any name.
    package let name: Int32
    /// `post` and `capture` entries, ascending. A post that was captured, or that a posting queue made, has one.
    package fileprivate(set) var posts: [Int32] = []
    /// `post` entries of posts to other processes, ascending. They are not in `posts`: observers get what the server
    /// sends.
    package fileprivate(set) var sent: [Int32] = []
    /// `register` entries, ascending.
    package fileprivate(set) var registrations: [Int32] = []

    /// The posts after one entry and before another.
    package func posts(after one: Int32, before other: Int32) -> ArraySlice<Int32> {
        posts.numbers(after: one, before: other)
    }
}

extension RecordingIndex {
    /// Adds a `register`, `post` or `capture` to the history of its name.
    mutating func addToHistory(_ entry: Recording.Entry, _ number: Int32) {
        guard entry.stage == .register || entry.name >= 0 else { return }
        let process = Int32(recording.process(of: entry))
        let key = Self.key(process, entry.name)
        let history = historyOfName[key, default: histories.count]
        if history == histories.count {
            historyOfName[key] = history
            histories.append(NameHistory(process: process, name: entry.name))
        }
        if entry.stage == .register { return histories[history].registrations.append(number) }
        if entry.stage == .post, recording.origins[entry.post] != nil { return histories[history].sent.append(number) }
        // The document's observer captures the post itself.
        if entry.post >= 0, posts[Int(entry.post)].posted != number { return }
        if entry.relatedPost >= 0, let last = histories[history].posts.last,
            last == posts[Int(entry.relatedPost)].posted
        {
            histories[history].posts.removeLast()
        }
        histories[history].posts.append(number)
    }

    /// True if a post began with a record: its first `post` or `capture`, unless it is a capture that another post
    /// caused or sent, or the end of a thread, which is told to its observers.
    package func isPost(_ number: Int32) -> Bool {
        let entry = entry(number)
        guard entry.stage == .post || entry.stage == .capture, entry.name >= 0,
            entry.post < 0 || posts[Int(entry.post)].posted == number
        else { return false }
        return entry.stage == .post
            || !(entry.relatedPost >= 0 && posts[Int(entry.relatedPost)].posted >= 0) && !recording.isThreadEnd(entry)
                && !(entry.post >= 0 && posts[Int(entry.post)].sentBy >= 0)
    }

    /// The observers that were registered for the post's name when it was posted, and have no record for this post.
    package func couldHaveMatched(_ post: Int32) -> [Int32] {
        let posted = posts[Int(post)].posted
        let entry = entry(posted)
        let center = recording.foundationDetails(of: entry)?.center
        return observers.indices.map { Int32($0) }.filter { number in
            let observer = observers[Int(number)]
            guard let registration = registration(of: number), observer.registered < posted else { return false }
            return recording.observers[Int(number)].process == Int32(recording.process(of: entry))
                && (observer.removed < 0 || observer.removed > posted)
                && (registration.name < 0 || registration.name == entry.name)
                && (registration.sender < 0 || registration.sender == entry.sender
                    || entry.sender < 0 && !entry.isFoundation)
                && recording.foundationDetails(of: registration)?.center == center
                && delivery(post, number) < 0
        }
    }
}

extension [Int32] {
    /// The elements of an ascending array that are greater than one number and less than another.
    package func numbers(after one: Int32, before other: Int32) -> ArraySlice<Int32> {
        let first = firstIndex(after: one)
        return self[first..<Swift.max(first, firstIndex(after: other - 1))]
    }

    /// The index of the first element of an ascending array that is greater than a number, or `endIndex`.
    package func firstIndex(after number: Int32) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
