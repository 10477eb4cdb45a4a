/// What drains have taken from `PendingDeliveries` and not delivered yet: a pure value that only the target thread has.
///
/// Drains that are nested in one another share it, so that the inner one goes on where the outer one stands and order is kept.
struct TakenDeliveries<Item: PendingItem, Waiter: AnyObject> {
    typealias Entry = PendingDeliveries<Item, Waiter>.Entry
    typealias Chunk = DeliveryChunk<Entry>

    private struct Lane {
        /// Of its entries, those before `first` were taken out.
        var chunk = Chunk()
        var first = 0
        /// The outermost of the drains that took something out of it.
        var drain = Int.max
        /// What follows, from `next` on.
        var later: [Chunk] = []
        var next = 0

        /// A chunk that is exhausted is replaced at once, so there is nothing later either.
        @inline(__always) var isEmpty: Bool { first == chunk.entries.count }
        @inline(__always) var firstPlace: UInt64? { isEmpty ? nil : chunk.entries[first].place }
        var count: Int { chunk.entries.count - first + later[next...].reduce(0) { $0 + $1.entries.count } }
    }

    private var lanes: [Lane] = []
    /// Exhausted, but what they keep may be in use still.
    private var exhausted: [(chunk: Chunk, drain: Int)] = []
    private var empty: [Chunk] = []
    /// In how many lanes something waits.
    private(set) var waitingLanes = 0

    @inline(__always)
    func isEmpty(lane: Int) -> Bool { lane >= lanes.count || lanes[lane].isEmpty }

    /// Whether something from before a place waits in a lane.
    func hasEntry(before place: UInt64, lane: Int) -> Bool {
        lane < lanes.count && lanes[lane].firstPlace.map { $0 < place } ?? false
    }

    /// The place of what is first in a lane.
    @inline(__always)
    func firstPlace(lane: Int) -> UInt64? { lane < lanes.count ? lanes[lane].firstPlace : nil }

    /// Gives the first entry of a lane another place, which is before all others in it.
    @inline(__always)
    mutating func moveFirst(of lane: Int, to place: UInt64) {
        lanes[lane].chunk.entries[lanes[lane].first].place = place
    }

    /// Takes what waits in a lane.
    /// - Parameter take: is handed a list of chunks to add to, oldest first.
    @inline(__always)
    mutating func take(lane: Int, _ take: (inout [Chunk]) -> Void) {
        while lanes.count <= lane { lanes.append(Lane()) }
        let wasEmpty = lanes[lane].isEmpty
        take(&lanes[lane].later)
        if wasEmpty, goToNextChunk(lane) { waitingLanes += 1 }
    }

    /// Whether more than one waits in these lanes.
    func hasMoreThanOne(in lanes: some Collection<Int>) -> Bool {
        var count = 0
        for lane in lanes where lane < self.lanes.count && count < 2 { count += self.lanes[lane].count }
        return count > 1
    }

    /// Which of these lanes has the first place of all, if that is before a given one.
    @inline(__always)
    func firstLane(of lanes: some Collection<Int>, before end: UInt64 = .max) -> Int? {
        var first: (lane: Int, place: UInt64)?
        for lane in lanes where lane < self.lanes.count {
            guard let place = self.lanes[lane].firstPlace else { continue }
            if first == nil || place < first!.place { first = (lane, place) }
        }
        guard let first, first.place < end else { return nil }
        return first.lane
    }

    /// Takes the first entry of a lane, which is not empty. What its chunk keeps is kept until `takeExhausted`.
    /// - Parameter drain: which of the drains that are nested in one another takes it, from 1 on; `max`: none, and its chunk need
    ///   not keep what it is for.
    @inline(__always)
    mutating func takeFirst(of lane: Int, in drain: Int = .max) -> Entry {
        let first = lanes[lane].first
        if drain < lanes[lane].drain { lanes[lane].drain = drain }
        var entry = Entry.taken
        // Moved and not copied: to count references costs more than the rest.
        swap(&entry, &lanes[lane].chunk.entries[first])
        lanes[lane].first = first + 1
        if first + 1 == lanes[lane].chunk.entries.count, !goToNextChunk(lane) { waitingLanes -= 1 }
        return entry
    }

    /// - Returns: whether there is one.
    @inline(never)
    private mutating func goToNextChunk(_ lane: Int) -> Bool {
        repeat {
            let drain = lanes[lane].drain
            lanes[lane].first = 0
            lanes[lane].drain = .max
            if lanes[lane].chunk.kept.isEmpty, lanes[lane].next == lanes[lane].later.count {
                lanes[lane].chunk.entries.removeAll(keepingCapacity: true)
                return false
            }
            var chunk = Chunk()
            swap(&chunk, &lanes[lane].chunk)
            if chunk.kept.isEmpty { addEmpty(&chunk) } else { exhausted.append((chunk, drain)) }
            guard lanes[lane].next < lanes[lane].later.count else {
                lanes[lane].later.removeAll(keepingCapacity: lanes[lane].next <= Chunk.spareLimit)
                lanes[lane].next = 0
                return false
            }
            var next = Chunk()
            swap(&next, &lanes[lane].later[lanes[lane].next])
            swap(&next, &lanes[lane].chunk)
            lanes[lane].next += 1
            if lanes[lane].next > 32, lanes[lane].next * 2 > lanes[lane].later.count {
                // Something may wait for ever.
                lanes[lane].later.removeFirst(lanes[lane].next)
                lanes[lane].next = 0
            }
        } while lanes[lane].chunk.entries.isEmpty
        return true
    }

    /// Takes a chunk to use again that keeps nothing any more: so many that a backlog's memory is not kept for ever.
    mutating func addEmpty(_ chunk: inout Chunk) {
        guard empty.count < Chunk.spareLimit, chunk.entries.capacity > 0 else { return }
        chunk.entries.removeAll(keepingCapacity: true)
        empty.append(chunk)
    }

    /// Adds an entry to the end of a lane, in which nothing waits that was not taken.
    mutating func append(_ entry: Entry, lane: Int) {
        while lanes.count <= lane { lanes.append(Lane()) }
        guard lanes[lane].isEmpty else { return take(lane: lane) { $0.append(Chunk(entries: [entry])) } }
        lanes[lane].chunk.entries.append(entry)
        waitingLanes += 1
    }

    /// Puts an entry before all others of a lane.
    mutating func putBack(_ entry: Entry, lane: Int) {
        if lanes[lane].isEmpty { waitingLanes += 1 }
        if lanes[lane].first > 0 {
            lanes[lane].first -= 1
            lanes[lane].chunk.entries[lanes[lane].first] = entry
        } else {
            lanes[lane].chunk.entries.insert(entry, at: 0)
        }
    }

    /// Whether there are chunks that all was taken out of.
    @inline(__always) var hasExhausted: Bool { !exhausted.isEmpty }

    /// Takes an exhausted chunk of which nothing is being delivered any more, when a drain has delivered what it took last: what was
    /// taken out of it was by this drain, or by one in its handlers. What it keeps is let go of by the caller, for that is to call foreign
    /// code, which may run the run loop.
    mutating func takeExhausted(in drain: Int) -> Chunk? {
        guard let last = exhausted.last, last.drain >= drain else { return nil }
        return exhausted.removeLast().chunk
    }

    /// Hands out chunks to be used again, that keep nothing any more.
    @inline(__always)
    mutating func handOutEmpty(_ take: (inout [Chunk]) -> Void) {
        if !empty.isEmpty { take(&empty) }
    }

    /// - Returns: what waits, in chunks that keep what it is for.
    mutating func removeAll() -> [Chunk] {
        defer { self = TakenDeliveries() }
        for index in lanes.indices where lanes[index].first > 0 {
            lanes[index].chunk.entries.removeFirst(lanes[index].first)
        }
        return exhausted.map { Chunk(kept: $0.chunk.kept) } + lanes.flatMap { [$0.chunk] + $0.later[$0.next...] }
    }
}
