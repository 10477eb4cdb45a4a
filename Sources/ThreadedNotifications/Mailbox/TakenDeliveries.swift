/// What drains have taken from `PendingDeliveries` and not delivered yet: a pure value that only the target thread has.
///
/// Drains that are nested in one another share it, so that the inner one goes on where the outer one stands and order is kept.
struct TakenDeliveries<Item, Waiter: AnyObject> {
    typealias Entry = PendingDeliveries<Item, Waiter>.Entry

    private struct Lane {
        /// Last first, so that the first is taken off the end.
        var entries: [Entry] = []
        /// What nested drains took after `entries`, each oldest first.
        var later: [[Entry]] = []

        var isEmpty: Bool { entries.isEmpty }
    }

    private var lanes: [Lane] = []

    func isEmpty(lane: Int) -> Bool { lane >= lanes.count || lanes[lane].isEmpty }

    /// Whether something from before a place waits in a lane.
    func hasEntry(before place: UInt64, lane: Int) -> Bool {
        lane < lanes.count && lanes[lane].entries.last.map { $0.place < place } ?? false
    }

    /// Takes what waits in a lane.
    /// - Parameter take: is handed an empty buffer to fill, oldest first.
    mutating func take(lane: Int, _ take: (inout [Entry]) -> Void) {
        while lanes.count <= lane { lanes.append(Lane()) }
        if lanes[lane].isEmpty {
            take(&lanes[lane].entries)
            lanes[lane].entries.reverse()
        } else {
            var buffer: [Entry] = []
            take(&buffer)
            if !buffer.isEmpty { lanes[lane].later.append(buffer) }
        }
    }

    /// Whether more than one waits in these lanes.
    func hasMoreThanOne(in lanes: some Sequence<Int>) -> Bool {
        var count = 0
        for lane in lanes where lane < self.lanes.count {
            count += self.lanes[lane].entries.count + self.lanes[lane].later.count
        }
        return count > 1
    }

    /// Takes the entry with the first place of all in these lanes, if it is not after a given one.
    mutating func takeFirst(of lanes: [Int], through last: UInt64 = .max) -> Entry? {
        var first: (lane: Int, place: UInt64)?
        for lane in lanes where lane < self.lanes.count {
            guard let place = self.lanes[lane].entries.last?.place else { continue }
            if first == nil || place < first!.place { first = (lane, place) }
        }
        guard let first, first.place <= last else { return nil }
        return takeFirst(of: first.lane)
    }

    private mutating func takeFirst(of lane: Int) -> Entry? {
        let entry = lanes[lane].entries.popLast()
        if lanes[lane].entries.isEmpty {
            if !lanes[lane].later.isEmpty {
                lanes[lane].entries = lanes[lane].later.removeFirst().reversed()
            } else if lanes[lane].entries.capacity > 4096 {
                // A backlog's memory is not kept for ever.
                lanes[lane].entries = []
            }
        }
        return entry
    }

    mutating func removeAll() -> [Entry] {
        defer { lanes = [] }
        return lanes.flatMap { $0.entries.reversed() + $0.later.flatMap(\.self) }
    }
}
