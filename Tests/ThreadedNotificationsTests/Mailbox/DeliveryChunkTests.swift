import Testing

@testable import ThreadedNotifications

/// What chunks keep, how long, and what becomes of those that were emptied.
@Suite("DeliveryChunk")
struct DeliveryChunkTests {
    private final class Waiter {}
    private final class Object {}
    private typealias Pending = PendingDeliveries<Int, Waiter>
    private typealias Taken = TakenDeliveries<Int, Waiter>

    private static let capacity = Pending.Chunk.capacity
    private static let spareLimit = Pending.Chunk.spareLimit

    /// A mailbox of one lane, without its lock.
    private struct Lane {
        var pending = Pending()
        var taken = Taken()
        let lane: Int

        init() {
            lane = pending.addQueue()
        }

        /// So many for an object.
        mutating func append(_ count: Int, for object: AnyObject) {
            for _ in 0..<count {
                _ = pending.append(0, to: lane)
                pending.retain(object, in: lane)
            }
        }

        /// So many that are for nobody.
        mutating func append(_ count: Int) {
            for _ in 0..<count { _ = pending.append(0, to: lane) }
        }

        mutating func take() {
            let lane = lane
            taken.handOutEmpty { pending.reuse(&$0) }
            taken.take(lane) { pending.takeAll(of: lane, into: &$0) }
        }

        mutating func deliver(_ count: Int) {
            for _ in 0..<count { _ = taken.takeFirst(of: lane) }
        }

        /// Takes everything out, as drains do.
        mutating func drain() {
            take()
            while !taken.isEmpty(lane) { deliver(1) }
            taken.letGo()
        }

        var chunks: [Pending.Chunk] {
            mutating get {
                var chunks: [Pending.Chunk] = []
                pending.takeAll(of: lane, into: &chunks)
                return chunks
            }
        }
    }

    @Test("an object is kept by each chunk that something of it is in, once")
    func keepsOnce() {
        var lane = Lane()
        let objects = (Object(), Object())
        lane.append(Self.capacity / 2, for: objects.0)
        lane.append(Self.capacity, for: objects.1)
        lane.append(2 * Self.capacity, for: objects.0)
        lane.append(Self.capacity)
        let chunks = lane.chunks
        #expect(chunks.map(\.entries.count) == Array(repeating: Self.capacity, count: 4) + [Self.capacity / 2])
        let kept = chunks.map { chunk in chunk.owners.map { $0 === objects.0 ? 0 : 1 } }
        #expect(kept == [[0, 1], [1, 0], [0], [0], []])
    }

    @Test("what follows a drain, or the end of what was before, is kept by the new chunk")
    func keepsAgain() {
        var lane = Lane()
        let object = Object()
        for round in 0..<5 {
            lane.append(1, for: object)
            lane.append(1, for: object)
            let kept =
                round % 2 == 0 ? lane.chunks.flatMap(\.owners) : lane.pending.removeAll().chunks.flatMap(\.owners)
            #expect(kept.count == 1 && kept.first === object)
        }
    }

    @Test("an object lives until the last of its chunk was taken and is let go of, and no longer")
    func lifetime() {
        var lane = Lane()
        var objects: [WeakReference<AnyObject>] = []
        let lengths = [Self.capacity, Self.capacity, 50]
        for length in lengths {
            let object = Object()
            objects.append(WeakReference<AnyObject>(object))
            lane.append(length, for: object)
        }
        func alive() -> [Bool] { objects.map { $0.object != nil } }
        lane.take()
        for (index, length) in lengths.enumerated() {
            let expected = objects.indices.map { $0 >= index }
            for _ in 0..<length {
                #expect(!lane.taken.hasExhausted)
                #expect(alive() == expected)
                lane.deliver(1)
                if !lane.taken.hasExhausted { lane.taken.letGo() }
            }
            // The last one is being delivered.
            #expect(lane.taken.hasExhausted)
            #expect(alive() == expected)
            lane.taken.letGo()
            #expect(!lane.taken.hasExhausted)
        }
        #expect(alive() == [false, false, false])
        #expect(lane.taken.isEmpty(lane.lane) && lane.taken.waitingQueues == 0)
    }

    @Test("when the thread ends, what was taken and what was not are handed out with what they are for")
    func end() {
        var lane = Lane()
        var objects: [WeakReference<AnyObject>] = []
        for step in 0..<4 {
            let object = Object()
            objects.append(WeakReference<AnyObject>(object))
            lane.append(Self.capacity, for: object)
            if step == 2 { lane.take() }
        }
        // All of the first, which is not let go of, and one of the second.
        lane.deliver(Self.capacity + 1)
        func alive() -> [Bool] { objects.map { $0.object != nil } }
        do {
            let taken = lane.taken.removeAll()
            do {
                let kept = lane.pending.removeAll().chunks.flatMap(\.owners)
                #expect(kept.count == 1)
                #expect(alive() == [true, true, true, true])
            }
            #expect(alive() == [true, true, true, false])
            #expect(taken.reduce(0) { $0 + $1.entries.count } == 2 * Self.capacity - 1)
        }
        #expect(alive() == [false, false, false, false])
    }

    /// How many chunks there are to be used again: they have room that new ones do not have.
    private static func spares(of lane: inout Lane) -> Int {
        var count = 0
        // What is in use now was one.
        lane.append(1)
        _ = lane.chunks
        while count < 1000 {
            lane.append(1)
            guard lane.chunks.first!.entries.capacity >= capacity else { return count }
            count += 1
        }
        return count
    }

    @Test("chunks that were emptied are used again, but no more than the limit", arguments: [1, 5, 31, 33, 200])
    func reuse(chunks: Int) {
        for keeps in [true, false] {
            var lane = Lane()
            let object = Object()
            for _ in 0..<3 {
                if keeps {
                    lane.append(chunks * Self.capacity, for: object)
                } else {
                    lane.append(chunks * Self.capacity)
                }
                lane.drain()
                var handedOut = 0
                lane.taken.handOutEmpty { handedOut = $0.count }
                #expect(handedOut <= Self.spareLimit)
            }
            // The drain hands out what it emptied last.
            lane.take()
            let spares = Self.spares(of: &lane)
            #expect(spares <= Self.spareLimit)
            #expect(spares + 2 >= min(chunks, Self.spareLimit), "\(spares) are used again")
        }
    }

    @Test("a lane in which something always waits stays short, though it is never through")
    func staysShort() {
        var lane = Lane()
        let object = Object()
        var most = 0
        lane.append(10, for: object)
        for round in 0..<1000 {
            lane.append(Self.capacity, for: object)
            lane.take()
            lane.deliver(Self.capacity)
            lane.taken.letGo()
            #expect(!lane.taken.isEmpty(lane.lane))
            if round % 20 == 0 { most = max(most, storedElements(of: lane.taken)) }
        }
        // 10 wait, in two chunks at most.
        #expect(most < 500, "\(most) elements")
        lane.drain()
        #expect(lane.taken.isEmpty(lane.lane))
    }

    /// Something that is counted as long as it waits.
    private struct Counted: PendingItem {
        final class Life {
            // Safety: one test uses it, on one thread.
            nonisolated(unsafe) static var count = 0

            init() { Self.count += 1 }

            deinit { Self.count -= 1 }
        }

        static var nothing: Counted { Counted() }

        var life: Life?
    }

    @Test("of a backlog of a million nothing is left but chunks to be used again, whatever became of it")
    func backlog() {
        for isDelivered in [true, false] {
            var pending = PendingDeliveries<Counted, Waiter>()
            var taken = TakenDeliveries<Counted, Waiter>()
            let lane = pending.addQueue()
            for _ in 0..<1_000_000 { _ = pending.append(Counted(life: Counted.Life()), to: lane) }
            #expect(Counted.Life.count == 1_000_000)
            if isDelivered {
                taken.take(lane) { pending.takeAll(of: lane, into: &$0) }
                while !taken.isEmpty(lane) { _ = taken.takeFirst(of: lane) }
                taken.letGo()
                taken.handOutEmpty { pending.reuse(&$0) }
            } else {
                _ = pending.removeAll()
            }
            #expect(Counted.Life.count == 0)
            #expect(storedElements(of: pending) + storedElements(of: taken) < 2 * Self.spareLimit)
        }
    }
}
