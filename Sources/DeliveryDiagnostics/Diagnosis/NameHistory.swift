internal import DeliveryRecording

/// The posts and the observers of one name in one process.
struct NameHistory {
    let process: Int32
    /// -1 for observers of any name.
    let name: Int32
    /// `post` and `capture` entries, ascending. A post that was captured, or that a posting queue made, has one.
    private(set) var posts: [Int32] = []
    /// `register` entries, ascending.
    private(set) var registrations: [Int32] = []

    /// The histories of all names, in the order of their first records.
    static func all(_ index: RecordingIndex) -> [NameHistory] {
        var histories: [NameHistory] = []
        var known: [UInt64: Int] = [:]
        for (number, entry) in index.recording.entries.enumerated() {
            let isPost = entry.stage == .post || entry.stage == .capture
            guard entry.stage == .register || isPost && entry.name >= 0 else { continue }
            let process = Int32(index.recording.process(of: entry))
            let key = indexPair(process, entry.name)
            let history = known[key, default: histories.count]
            if history == histories.count {
                known[key] = history
                histories.append(NameHistory(process: process, name: entry.name))
            }
            if isPost {
                histories[history].addPost(entry, Int32(number), index)
            } else {
                histories[history].registrations.append(Int32(number))
            }
        }
        return histories
    }

    private mutating func addPost(_ entry: Recording.Entry, _ number: Int32, _ index: RecordingIndex) {
        // The document's technique also records a `capture` for each `post`.
        if entry.post >= 0, index.posts[Int(entry.post)].posted != number { return }
        if entry.relatedPost >= 0, let last = posts.last, last == index.posts[Int(entry.relatedPost)].posted {
            posts.removeLast()
        }
        posts.append(number)
    }

    /// The posts after one entry and before another.
    func posts(after one: Int32, before other: Int32) -> ArraySlice<Int32> {
        posts.numbers(after: one, before: other)
    }
}

extension [Int32] {
    /// The elements of an ascending array that are greater than one number and less than another.
    func numbers(after one: Int32, before other: Int32) -> ArraySlice<Int32> {
        let first = firstIndex(after: one)
        return self[first..<Swift.max(first, firstIndex(after: other - 1))]
    }

    /// The index of the first element of an ascending array that is greater than a number, or `endIndex`.
    func firstIndex(after number: Int32) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
