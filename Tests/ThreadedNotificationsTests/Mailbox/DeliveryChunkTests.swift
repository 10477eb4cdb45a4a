import Testing

@testable import ThreadedNotifications

/// The objects that chunks retain, and the reuse of empty chunks.
@Suite("DeliveryChunk")
struct DeliveryChunkTests {
    private final class Waiter {}
    private final class Object {}
    private typealias Pending = PendingDeliveries<Int, Waiter>
    private typealias Taken = TakenDeliveries<Int, Waiter>

    private static let capacity = Pending.Chunk.capacity
    private static let spareLimit = Pending.Chunk.spareLimit

    /// The pure values of a mailbox with one queue.
    private struct Mailbox {
        var pending = Pending()
        var taken = Taken()
        let queue: Int
        /// The chunk that retains each object, as an observer stores it.
        private var retainingChunks: [ObjectIdentifier: UInt64] = [:]

        init() {
            queue = pending.addQueue()
        }

        /// Appends entries that use an object.
        mutating func append(_ count: Int, for object: AnyObject) {
            for _ in 0..<count {
                _ = pending.append(0, to: queue)
                let chunk = pending.lastChunk(of: queue)
                guard retainingChunks.updateValue(chunk, forKey: ObjectIdentifier(object)) != chunk else { continue }
                pending.retain(object, in: queue)
            }
        }

        /// Appends entries that use no object.
        mutating func append(_ count: Int) {
            for _ in 0..<count { _ = pending.append(0, to: queue) }
        }

        mutating func take() {
            let queue = queue
            taken.handOutEmpty { pending.reuse(&$0) }
            taken.take(queue) { pending.takeAll(of: queue, into: &$0) }
        }

        mutating func deliver(_ count: Int) {
            for _ in 0..<count { _ = taken.takeFirst(of: queue) }
        }

        /// Takes and delivers everything.
        mutating func drain() {
            take()
            while !taken.isEmpty(queue) { deliver(1) }
            taken.releaseExhausted()
        }

        var chunks: [Pending.Chunk] {
            mutating get {
                var chunks: [Pending.Chunk] = []
                pending.takeAll(of: queue, into: &chunks)
                return chunks
            }
        }
    }

    @Test("each chunk retains the objects of its entries once")
    func retainsOnce() {
        var mailbox = Mailbox()
        let objects = (Object(), Object())
        mailbox.append(Self.capacity / 2, for: objects.0)
        mailbox.append(Self.capacity, for: objects.1)
        mailbox.append(2 * Self.capacity, for: objects.0)
        mailbox.append(Self.capacity)
        let chunks = mailbox.chunks
        #expect(chunks.map(\.entries.count) == Array(repeating: Self.capacity, count: 4) + [Self.capacity / 2])
        let kept = chunks.map { chunk in chunk.owners.map { $0 === objects.0 ? 0 : 1 } }
        #expect(kept == [[0, 1], [1, 0], [0], [0], []])
    }

    @Test("after a drain or removeAll the new chunk retains the object again")
    func retainsAgain() {
        var mailbox = Mailbox()
        let object = Object()
        for round in 0..<5 {
            mailbox.append(1, for: object)
            mailbox.append(1, for: object)
            let kept =
                round % 2 == 0 ? mailbox.chunks.flatMap(\.owners) : mailbox.pending.removeAll().chunks.flatMap(\.owners)
            #expect(kept.count == 1 && kept.first === object)
        }
    }

    @Test("an object is retained until its chunk is exhausted and released, and no longer")
    func lifetime() {
        var mailbox = Mailbox()
        var objects: [WeakReference<AnyObject>] = []
        let lengths = [Self.capacity, Self.capacity, 50]
        for length in lengths {
            let object = Object()
            objects.append(WeakReference<AnyObject>(object))
            mailbox.append(length, for: object)
        }
        func alive() -> [Bool] { objects.map { $0.object != nil } }
        mailbox.take()
        for (index, length) in lengths.enumerated() {
            let expected = objects.indices.map { $0 >= index }
            for _ in 0..<length {
                #expect(!mailbox.taken.hasExhausted)
                #expect(alive() == expected)
                mailbox.deliver(1)
                if !mailbox.taken.hasExhausted { mailbox.taken.releaseExhausted() }
            }
            // The chunk's last entry is still being delivered.
            #expect(mailbox.taken.hasExhausted)
            #expect(alive() == expected)
            mailbox.taken.releaseExhausted()
            #expect(!mailbox.taken.hasExhausted)
        }
        #expect(alive() == [false, false, false])
        #expect(mailbox.taken.isEmpty(mailbox.queue) && mailbox.taken.waitingQueues == 0)
    }

    @Test("removeAll returns taken and pending entries with the objects that they use")
    func removeAll() {
        var mailbox = Mailbox()
        var objects: [WeakReference<AnyObject>] = []
        for step in 0..<4 {
            let object = Object()
            objects.append(WeakReference<AnyObject>(object))
            mailbox.append(Self.capacity, for: object)
            if step == 2 { mailbox.take() }
        }
        // All of the first chunk, which is not released, and one of the second.
        mailbox.deliver(Self.capacity + 1)
        func alive() -> [Bool] { objects.map { $0.object != nil } }
        do {
            let taken = mailbox.taken.removeAll()
            do {
                let kept = mailbox.pending.removeAll().chunks.flatMap(\.owners)
                #expect(kept.count == 1)
                #expect(alive() == [true, true, true, true])
            }
            #expect(alive() == [true, true, true, false])
            #expect(taken.reduce(0) { $0 + $1.entries.count } == 2 * Self.capacity - 1)
        }
        #expect(alive() == [false, false, false, false])
    }

    /// The number of spare chunks, which have a larger capacity than new ones.
    private static func spares(of mailbox: inout Mailbox) -> Int {
        var count = 0
        // The current chunk was a spare one.
        mailbox.append(1)
        _ = mailbox.chunks
        while count < 1000 {
            mailbox.append(1)
            guard mailbox.chunks.first!.entries.capacity >= capacity else { return count }
            count += 1
        }
        return count
    }

    @Test("empty chunks are reused, up to the limit", arguments: [1, 5, 31, 33, 200])
    func reuse(chunks: Int) {
        for usesObject in [true, false] {
            var mailbox = Mailbox()
            let object = Object()
            for _ in 0..<3 {
                if usesObject {
                    mailbox.append(chunks * Self.capacity, for: object)
                } else {
                    mailbox.append(chunks * Self.capacity)
                }
                mailbox.drain()
                var handedOut = 0
                mailbox.taken.handOutEmpty { handedOut = $0.count }
                #expect(handedOut <= Self.spareLimit)
            }
            // The next drain hands out the chunks that were emptied last.
            mailbox.take()
            let spares = Self.spares(of: &mailbox)
            #expect(spares <= Self.spareLimit)
            #expect(spares + 2 >= min(chunks, Self.spareLimit), "\(spares) are reused")
        }
    }

    @Test("a queue that is never empty has few chunks")
    func fewChunks() {
        var mailbox = Mailbox()
        let object = Object()
        var most = 0
        mailbox.append(10, for: object)
        for round in 0..<1000 {
            mailbox.append(Self.capacity, for: object)
            mailbox.take()
            mailbox.deliver(Self.capacity)
            mailbox.taken.releaseExhausted()
            #expect(!mailbox.taken.isEmpty(mailbox.queue))
            if round % 20 == 0 { most = max(most, storedElements(of: mailbox.taken)) }
        }
        // 10 entries wait, in at most two chunks.
        #expect(most < 500, "\(most) elements")
        mailbox.drain()
        #expect(mailbox.taken.isEmpty(mailbox.queue))
    }

    /// An item that counts its instances.
    private struct Counted: PendingItem {
        final class Counter {
            // Safety: one test uses it, on one thread.
            nonisolated(unsafe) static var count = 0

            init() { Self.count += 1 }

            deinit { Self.count -= 1 }
        }

        static var nothing: Counted { Counted() }

        var counter: Counter?
    }

    @Test("a backlog of a million, delivered or removed, leaves nothing but spare chunks")
    func backlog() {
        for isDelivered in [true, false] {
            var pending = PendingDeliveries<Counted, Waiter>()
            var taken = TakenDeliveries<Counted, Waiter>()
            let queue = pending.addQueue()
            for _ in 0..<1_000_000 { _ = pending.append(Counted(counter: Counted.Counter()), to: queue) }
            #expect(Counted.Counter.count == 1_000_000)
            if isDelivered {
                taken.take(queue) { pending.takeAll(of: queue, into: &$0) }
                while !taken.isEmpty(queue) { _ = taken.takeFirst(of: queue) }
                taken.releaseExhausted()
                taken.handOutEmpty { pending.reuse(&$0) }
            } else {
                _ = pending.removeAll()
            }
            #expect(Counted.Counter.count == 0)
            #expect(storedElements(of: pending) + storedElements(of: taken) < 2 * Self.spareLimit)
        }
    }
}
