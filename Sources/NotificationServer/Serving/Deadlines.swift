/// The times at which something may be due for clients, in their order: at most one for each client.
///
/// Cost: a search for each change, and nothing for a time that has not come.
struct Deadlines {
    private struct Entry {
        var time: UInt64
        var client: Int
    }

    /// The latest first, so that the one that is due is taken from the end.
    private var entries: [Entry] = []
    private var times: [Int: UInt64] = [:]

    var first: UInt64? { entries.last?.time }

    /// Notes a time, unless an earlier one is noted for the client.
    mutating func note(_ time: UInt64, for client: Int) {
        guard time < times[client] ?? .max else { return }
        remove(client)
        times[client] = time
        entries.insert(Entry(time: time, client: client), at: index(time, client))
    }

    mutating func remove(_ client: Int) {
        guard let time = times.removeValue(forKey: client) else { return }
        entries.remove(at: index(time, client))
    }

    /// - Returns: a client with a time that has come.
    mutating func removeFirst(now: UInt64) -> Int? {
        guard let entry = entries.last, entry.time <= now else { return nil }
        remove(entry.client)
        return entry.client
    }

    /// The position at which an entry is, or belongs.
    private func index(_ time: UInt64, _ client: Int) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            let entry = entries[middle]
            if (entry.time, entry.client) > (time, client) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
