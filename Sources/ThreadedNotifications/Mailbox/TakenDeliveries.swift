/// The deliveries that drains have taken from `PendingDeliveries` and not delivered yet: a pure value of the target
/// thread.
///
/// Nested drains share it: the inner drain continues where the outer one stopped, so that the order is kept.
struct TakenDeliveries<Item: PendingItem, Waiter: AnyObject> {
    typealias Entry = PendingDeliveries<Item, Waiter>.Entry
    typealias Chunk = DeliveryChunk<Entry>

    private struct Queue {
        /// The first chunk. Its entries before `first` were taken.
        var chunk = Chunk()
        var first = 0
        /// The outermost drain that took an entry of `chunk`.
        var drain = Int.max
        /// The following chunks, from `next` on.
        var later: [Chunk] = []
        var next = 0

        /// An exhausted chunk is replaced at once, so nothing follows an empty one.
        @inline(__always) var isEmpty: Bool { first == chunk.entries.count }
        @inline(__always) var firstNumber: UInt64? { isEmpty ? nil : chunk.entries[first].number }
        var count: Int { chunk.entries.count - first + later[next...].reduce(0) { $0 + $1.entries.count } }
    }

    private var queues: [Queue] = []
    /// Chunks without entries. Their objects may still be in use.
    private var exhausted: [(chunk: Chunk, drain: Int)] = []
    private var empty: [Chunk] = []
    /// The number of queues that are not empty.
    private(set) var waitingQueues = 0

    @inline(__always)
    func isEmpty(_ queue: Int) -> Bool { queue >= queues.count || queues[queue].isEmpty }

    /// True if a queue has an entry with a smaller sequence number.
    func hasEntry(before number: UInt64, in queue: Int) -> Bool {
        queue < queues.count && queues[queue].firstNumber.map { $0 < number } ?? false
    }

    /// The sequence number of a queue's first entry.
    @inline(__always)
    func firstNumber(of queue: Int) -> UInt64? { queue < queues.count ? queues[queue].firstNumber : nil }

    /// Changes the sequence number of a queue's first entry to one that is still smaller than all others.
    @inline(__always)
    mutating func renumberFirst(of queue: Int, to number: UInt64) {
        queues[queue].chunk.entries[queues[queue].first].number = number
    }

    /// Takes the pending entries of a queue.
    /// - Parameter take: appends chunks to a list, oldest first.
    @inline(__always)
    mutating func take(_ queue: Int, _ take: (inout [Chunk]) -> Void) {
        while queues.count <= queue { queues.append(Queue()) }
        let wasEmpty = queues[queue].isEmpty
        take(&queues[queue].later)
        if wasEmpty, goToNextChunk(queue) { waitingQueues += 1 }
    }

    /// True if these queues have more than one entry.
    func hasMoreThanOne(in queues: some Collection<Int>) -> Bool {
        var count = 0
        for queue in queues where queue < self.queues.count && count < 2 { count += self.queues[queue].count }
        return count > 1
    }

    /// The queue with the smallest sequence number, if that is smaller than `end`.
    @inline(__always)
    func firstQueue(of queues: some Collection<Int>, before end: UInt64 = .max) -> Int? {
        var first: (queue: Int, number: UInt64)?
        for queue in queues where queue < self.queues.count {
            guard let number = self.queues[queue].firstNumber else { continue }
            if first == nil || number < first!.number { first = (queue, number) }
        }
        guard let first, first.number < end else { return nil }
        return first.queue
    }

    /// Takes the first entry of a queue, which is not empty. Its chunk retains its objects until `takeExhausted`.
    /// - Parameter drain: the depth of the drain that takes it, from 1 on; `max` if the caller retains the objects.
    @inline(__always)
    mutating func takeFirst(of queue: Int, in drain: Int = .max) -> Entry {
        let first = queues[queue].first
        if drain < queues[queue].drain { queues[queue].drain = drain }
        var entry = Entry.taken
        // A move, because a copy would count references.
        swap(&entry, &queues[queue].chunk.entries[first])
        queues[queue].chunk.prefetchEntry(at: first + Chunk.prefetched)
        queues[queue].first = first + 1
        if first + 1 == queues[queue].chunk.entries.count, !goToNextChunk(queue) { waitingQueues -= 1 }
        return entry
    }

    /// - Returns: whether there is one.
    @inline(never)
    private mutating func goToNextChunk(_ queue: Int) -> Bool {
        repeat {
            let drain = queues[queue].drain
            queues[queue].first = 0
            queues[queue].drain = .max
            if queues[queue].chunk.owners.isEmpty, queues[queue].next == queues[queue].later.count {
                queues[queue].chunk.entries.removeAll(keepingCapacity: true)
                return false
            }
            var chunk = Chunk()
            swap(&chunk, &queues[queue].chunk)
            if chunk.owners.isEmpty { reuse(&chunk) } else { exhausted.append((chunk, drain)) }
            guard queues[queue].next < queues[queue].later.count else {
                queues[queue].later.removeAll(keepingCapacity: queues[queue].next <= Chunk.spareLimit)
                queues[queue].next = 0
                return false
            }
            var next = Chunk()
            swap(&next, &queues[queue].later[queues[queue].next])
            swap(&next, &queues[queue].chunk)
            queues[queue].next += 1
            if queues[queue].next > 32, queues[queue].next * 2 > queues[queue].later.count {
                // A queue that is never empty must not keep the places of delivered chunks.
                queues[queue].later.removeFirst(queues[queue].next)
                queues[queue].next = 0
            }
        } while queues[queue].chunk.entries.isEmpty
        return true
    }

    /// Keeps a chunk without owners for reuse, up to a limit, so that a backlog's memory is released.
    mutating func reuse(_ chunk: inout Chunk) {
        guard empty.count < Chunk.spareLimit, chunk.entries.capacity > 0 else { return }
        chunk.entries.removeAll(keepingCapacity: true)
        empty.append(chunk)
    }

    /// Appends an entry to a queue that has no pending entries.
    mutating func append(_ entry: Entry, to queue: Int) {
        while queues.count <= queue { queues.append(Queue()) }
        guard queues[queue].isEmpty else { return take(queue) { $0.append(Chunk(entries: [entry])) } }
        queues[queue].chunk.entries.append(entry)
        waitingQueues += 1
    }

    /// Inserts an entry before all others of a queue.
    mutating func putBack(_ entry: Entry, to queue: Int) {
        if queues[queue].isEmpty { waitingQueues += 1 }
        if queues[queue].first > 0 {
            queues[queue].first -= 1
            queues[queue].chunk.entries[queues[queue].first] = entry
        } else {
            queues[queue].chunk.entries.insert(entry, at: 0)
        }
    }

    @inline(__always) var hasExhausted: Bool { !exhausted.isEmpty }

    /// Takes an exhausted chunk of which no entry is being delivered: this drain, or a drain nested in it, took the
    /// entries, and has delivered them. The caller releases the chunk's objects, which may call foreign code.
    mutating func takeExhausted(in drain: Int) -> Chunk? {
        guard let last = exhausted.last, last.drain >= drain else { return nil }
        return exhausted.removeLast().chunk
    }

    /// Hands out the empty chunks for reuse.
    @inline(__always)
    mutating func handOutEmpty(_ take: (inout [Chunk]) -> Void) {
        if !empty.isEmpty { take(&empty) }
    }

    /// - Returns: the entries, in chunks that retain their objects.
    mutating func removeAll() -> [Chunk] {
        defer { self = TakenDeliveries() }
        for index in queues.indices where queues[index].first > 0 {
            queues[index].chunk.entries.removeFirst(queues[index].first)
        }
        for index in exhausted.indices { exhausted[index].chunk.entries.removeAll() }
        return exhausted.map(\.chunk) + queues.flatMap { [$0.chunk] + $0.later[$0.next...] }
    }
}
