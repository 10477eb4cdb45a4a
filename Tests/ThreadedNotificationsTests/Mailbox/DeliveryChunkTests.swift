import SharedTesting
import XCTest

@testable import ThreadedNotifications

/// The objects that chunks retain, and the reuse of empty chunks.
final class DeliveryChunkTests: XCTestCase {
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

    func testEachChunkRetainsTheObjectsOfItsEntriesOnce() {
        var mailbox = Mailbox()
        let objects = (Object(), Object())
        mailbox.append(Self.capacity / 2, for: objects.0)
        mailbox.append(Self.capacity, for: objects.1)
        mailbox.append(2 * Self.capacity, for: objects.0)
        mailbox.append(Self.capacity)
        let chunks = mailbox.chunks
        XCTAssertEqual(chunks.map(\.entries.count), Array(repeating: Self.capacity, count: 4) + [Self.capacity / 2])
        let kept = chunks.map { chunk in chunk.owners.map { $0 === objects.0 ? 0 : 1 } }
        XCTAssertEqual(kept, [[0, 1], [1, 0], [0], [0], []])
    }

    func testAfterADrainOrRemoveAllTheNewChunkRetainsTheObjectAgain() {
        var mailbox = Mailbox()
        let object = Object()
        for round in 0..<5 {
            mailbox.append(1, for: object)
            mailbox.append(1, for: object)
            let kept =
                round % 2 == 0 ? mailbox.chunks.flatMap(\.owners) : mailbox.pending.removeAll().chunks.flatMap(\.owners)
            XCTAssertTrue(kept.count == 1 && kept.first === object)
        }
    }

    func testAnObjectIsRetainedUntilItsChunkIsExhaustedAndReleasedAndNoLonger() {
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
                XCTAssertFalse(mailbox.taken.hasExhausted)
                XCTAssertEqual(alive(), expected)
                mailbox.deliver(1)
                if !mailbox.taken.hasExhausted { mailbox.taken.releaseExhausted() }
            }
            // The chunk's last entry is still being delivered.
            XCTAssertTrue(mailbox.taken.hasExhausted)
            XCTAssertEqual(alive(), expected)
            mailbox.taken.releaseExhausted()
            XCTAssertFalse(mailbox.taken.hasExhausted)
        }
        XCTAssertEqual(alive(), [false, false, false])
        XCTAssertTrue(mailbox.taken.isEmpty(mailbox.queue) && mailbox.taken.waitingQueues == 0)
    }

    func testRemoveAllReturnsTakenAndPendingEntriesWithTheObjectsThatTheyUse() {
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
                XCTAssertEqual(kept.count, 1)
                XCTAssertEqual(alive(), [true, true, true, true])
            }
            XCTAssertEqual(alive(), [true, true, true, false])
            XCTAssertEqual(taken.reduce(0) { $0 + $1.entries.count }, 2 * Self.capacity - 1)
        }
        XCTAssertEqual(alive(), [false, false, false, false])
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

    func testEmptyChunksAreReusedUpToTheLimit() {
        for chunks in [1, 5, 31, 33, 60] { reuse(chunks: chunks) }
    }

    private func reuse(chunks: Int) {
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
                XCTAssertLessThanOrEqual(handedOut, Self.spareLimit)
            }
            // The next drain hands out the chunks that were emptied last.
            mailbox.take()
            let spares = Self.spares(of: &mailbox)
            XCTAssertLessThanOrEqual(spares, Self.spareLimit)
            XCTAssertGreaterThanOrEqual(spares + 2, min(chunks, Self.spareLimit), "\(spares) are reused")
        }
    }

    func testAQueueThatIsNeverEmptyHasFewChunks() {
        var mailbox = Mailbox()
        let object = Object()
        var most = 0
        mailbox.append(10, for: object)
        for round in 0..<300 {
            mailbox.append(Self.capacity, for: object)
            mailbox.take()
            mailbox.deliver(Self.capacity)
            mailbox.taken.releaseExhausted()
            XCTAssertFalse(mailbox.taken.isEmpty(mailbox.queue))
            if round % 20 == 0 { most = max(most, storedElements(of: mailbox.taken)) }
        }
        // 10 entries wait, in at most two chunks.
        XCTAssertLessThan(most, 500, "\(most) elements")
        mailbox.drain()
        XCTAssertTrue(mailbox.taken.isEmpty(mailbox.queue))
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

    func testALongBacklogDeliveredOrRemovedLeavesNothingButSpareChunks() {
        let count = TestRounds.rounds(20_000, stress: 1_000_000)
        for isDelivered in [true, false] {
            var pending = PendingDeliveries<Counted, Waiter>()
            var taken = TakenDeliveries<Counted, Waiter>()
            let queue = pending.addQueue()
            for _ in 0..<count { _ = pending.append(Counted(counter: Counted.Counter()), to: queue) }
            XCTAssertEqual(Counted.Counter.count, count)
            if isDelivered {
                taken.take(queue) { pending.takeAll(of: queue, into: &$0) }
                while !taken.isEmpty(queue) { _ = taken.takeFirst(of: queue) }
                taken.releaseExhausted()
                taken.handOutEmpty { pending.reuse(&$0) }
            } else {
                _ = pending.removeAll()
            }
            XCTAssertEqual(Counted.Counter.count, 0)
            XCTAssertLessThan(storedElements(of: pending) + storedElements(of: taken), 2 * Self.spareLimit)
        }
    }
}
