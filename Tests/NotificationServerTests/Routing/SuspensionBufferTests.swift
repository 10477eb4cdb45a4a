import Testing

@testable import DistributedNotifications
@testable import NotificationServer

/// The rules that are not part of the table.
@Suite("SuspensionBuffer")
struct SuspensionBufferTests {
    private static let coalescing = MatchingObserver(registration: 1, behavior: .coalesce)
    private static let holding = MatchingObserver(registration: 2, behavior: .hold)
    private static let dropping = MatchingObserver(registration: 3, behavior: .drop)
    private static let urgent = MatchingObserver(registration: 4, behavior: .deliverImmediately)

    private var buffer = SuspensionBuffer<TestPost>(entryLimit: 3, byteLimit: 2000, overflow: .discardOldest)

    private mutating func suspend() { _ = buffer.setSuspended(true) }

    private mutating func resume() -> SuspensionOutcome { SuspensionOutcome(buffer.setSuspended(false)) }

    @discardableResult private mutating func post(
        _ number: Int, _ key: Character = "A", to observers: MatchingObserver..., immediately: Bool = false,
        byteCount: Int = 1,
        spareBytes: Int = 1 << 20
    ) -> SuspensionOutcome {
        let post = TestPost(number: number, key: key, byteCount: byteCount)
        return SuspensionOutcome(
            buffer.decide(post, observers: observers, immediately: immediately, spareBytes: spareBytes), of: number)
    }

    // MARK: R1 to R6, D1

    @Test("resuming hands out what is held in the order of arrival, and what comes later is delivered as it comes (R1)")
    mutating func draining() {
        suspend()
        post(1, "A", to: Self.holding)
        post(2, "B", to: Self.coalescing)
        post(3, "A", to: Self.holding)
        #expect(resume().description == "[\"1→[2]\", \"2→[1]\", \"3→[2]\"]")
        #expect(post(4, to: Self.holding).description == "[\"4→[2]\"]")
        #expect(buffer.entryCount == 0 && buffer.byteCount == 0)
    }

    @Test("one resumption ends what two suspensions began (R2)")
    mutating func flag() {
        suspend()
        suspend()
        post(1, to: Self.holding)
        #expect(resume().deliveries.count == 1)
        #expect(!buffer.isSuspended)
    }

    @Test("after an immediate delivery the client is suspended (R3)")
    mutating func suspendedStill() {
        suspend()
        #expect(post(1, to: Self.holding, immediately: true).deliveries.count == 1)
        #expect(post(2, to: Self.holding).deliveries == [])
    }

    @Test("a post for several registrations is one entry, and delivered in one piece if one is to have it (R4)")
    mutating func onePiece() {
        suspend()
        post(1, to: Self.coalescing, Self.holding, Self.dropping)
        #expect(buffer.entryCount == 1)
        #expect(
            post(2, to: Self.coalescing, Self.dropping, Self.urgent).description == "[\"1→[1, 2]\", \"2→[1, 4]\"]")
        #expect(post(3, to: Self.holding, Self.dropping, immediately: true).description == "[\"3→[2, 3]\"]")
    }

    @Test("what is unregistered is observers nothing, and what is observers nobody goes (R5)")
    mutating func unregistering() {
        suspend()
        post(1, to: Self.holding)
        post(2, to: Self.coalescing, Self.holding)
        buffer.unregister(Self.holding.registration)
        #expect(buffer.entryCount == 1)
        #expect(resume().description == "[\"2→[1]\"]")
    }

    @Test("a registration that coalesces keeps the last of each name and object (D1), and no gap shows the others")
    mutating func coalescing() {
        suspend()
        post(1, "A", to: Self.coalescing)
        post(2, "B", to: Self.coalescing, Self.holding)
        post(3, "A", to: Self.coalescing)
        post(4, "B", to: Self.coalescing)
        #expect(resume().description == "[\"2→[2]\", \"3→[1]\", \"4→[1]\"]")
        #expect(buffer.discardedCount == 0)
    }

    // MARK: D2

    @Test("at the limit the oldest are discarded, and a gap before what is held counts posts, and each registration's")
    mutating func gap() {
        suspend()
        post(1, "A", to: Self.coalescing, Self.holding)
        for number in 2...5 { post(number, "B", to: Self.holding) }
        #expect(resume().description == "gap 2 [\"1:1\", \"2:2\"] [\"3→[2]\", \"4→[2]\", \"5→[2]\"]")
        #expect(buffer.discardedCount == 2)
    }

    @Test("a later flush shows what was discarded since, though nothing be held")
    mutating func laterGap() {
        suspend()
        for number in 1...4 { post(number, to: Self.holding) }
        #expect(post(5, to: Self.holding, immediately: true).gap == 1)
        post(6, to: Self.holding, byteCount: 3000)
        #expect(resume().description == "gap 1 [\"2:1\"] []")
        suspend()
        #expect(resume().gap == nil)
        #expect(buffer.discardedCount == 2)
    }

    @Test("a registration that is gone is shown no gap")
    mutating func gapOfTheGone() {
        suspend()
        post(1, to: Self.holding, Self.coalescing, byteCount: 3000)
        post(2, to: Self.coalescing, byteCount: 3000)
        buffer.unregister(Self.coalescing.registration)
        #expect(post(3, to: Self.dropping, immediately: true).gaps == [2: 1])
        post(4, to: Self.holding, byteCount: 3000)
        buffer.unregister(Self.holding.registration)
        #expect(resume().gap == nil)
    }

    @Test("where the policy is to deliver, a full queue is flushed, the new one is held, and nothing is discarded")
    mutating func delivering() {
        buffer = SuspensionBuffer(entryLimit: 2, byteLimit: 2000, overflow: .deliver)
        suspend()
        post(1, to: Self.holding)
        post(2, to: Self.holding)
        #expect(post(3, to: Self.holding).description == "[\"1→[2]\", \"2→[2]\"]")
        #expect(buffer.isSuspended && buffer.entryCount == 1)
        #expect(post(4, to: Self.holding, byteCount: 3000).description == "[\"3→[2]\", \"4→[2]\"]")
        #expect(buffer.discardedCount == 0)
    }

    @Test("at the limit of bytes, the client's or the server's, its oldest are discarded until there is room")
    mutating func bytes() {
        suspend()
        post(1, to: Self.holding, byteCount: 900)
        post(2, to: Self.holding, byteCount: 900)
        post(3, to: Self.holding, byteCount: 100)
        #expect(buffer.byteCount == 1000 + 2 * SuspensionBuffer<TestPost>.bytesPerObserver)
        post(4, to: Self.holding, byteCount: 300, spareBytes: 0)
        #expect(resume().description == "gap 2 [\"2:2\"] [\"3→[2]\", \"4→[2]\"]")
    }

    @Test("what does not fit though all else be discarded is discarded itself, and nothing else")
    mutating func tooLarge() {
        suspend()
        post(1, "A", to: Self.coalescing)
        post(2, "A", to: Self.coalescing, byteCount: 3000)
        post(3, "A", to: Self.coalescing, byteCount: 2, spareBytes: 0)
        #expect(resume().description == "gap 2 [\"1:2\"] [\"1→[1]\"]")
    }

    // MARK: Cost

    @Test("a post that is not held is not made")
    mutating func notMade() {
        func neverMade() -> TestPost {
            Issue.record("was made")
            return TestPost(number: 0, key: "A")
        }
        _ = buffer.decide(neverMade(), observers: [Self.holding], immediately: false, spareBytes: 0)
        suspend()
        _ = buffer.decide(neverMade(), observers: [Self.holding], immediately: true, spareBytes: 0)
        _ = buffer.decide(neverMade(), observers: [Self.dropping], immediately: false, spareBytes: 0)
        _ = buffer.decide(neverMade(), observers: [Self.urgent], immediately: false, spareBytes: 0)
    }
}
