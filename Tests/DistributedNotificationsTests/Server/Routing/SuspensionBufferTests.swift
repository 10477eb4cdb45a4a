import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The rules that are not part of the table.
final class SuspensionBufferTests: XCTestCase {
    private static let coalescing = MatchingObserver(registration: 1, behavior: .coalesce)
    private static let holding = MatchingObserver(registration: 2, behavior: .hold)
    private static let dropping = MatchingObserver(registration: 3, behavior: .drop)
    private static let urgent = MatchingObserver(registration: 4, behavior: .deliverImmediately)

    private var buffer = SuspensionBuffer<TestPost>(entryLimit: 3, byteLimit: 2000, overflow: .discardOldest)

    private func suspend() { _ = buffer.setSuspended(true) }

    private func resume() -> SuspensionOutcome { SuspensionOutcome(buffer.setSuspended(false)) }

    @discardableResult private func post(
        _ number: Int, _ key: Character = "A", to observers: MatchingObserver..., immediately: Bool = false,
        byteCount: Int = 1,
        spareBytes: Int = 1 << 20
    ) -> SuspensionOutcome {
        let post = TestPost(number: number, key: key, byteCount: byteCount)
        return SuspensionOutcome(
            buffer.decide(post, observers: observers, immediately: immediately, spareBytes: spareBytes), of: number)
    }

    // MARK: R1 to R6, D1

    func testR1ResumingDeliversHeldPostsInTheirOrderBeforeLaterOnes() {
        suspend()
        post(1, "A", to: Self.holding)
        post(2, "B", to: Self.coalescing)
        post(3, "A", to: Self.holding)
        XCTAssertEqual(resume().description, "[\"1→[2]\", \"2→[1]\", \"3→[2]\"]")
        XCTAssertEqual(post(4, to: Self.holding).description, "[\"4→[2]\"]")
        XCTAssertTrue(buffer.entryCount == 0 && buffer.byteCount == 0)
    }

    func testR2OneResumptionEndsTwoSuspensions() {
        suspend()
        suspend()
        post(1, to: Self.holding)
        XCTAssertEqual(resume().deliveries.count, 1)
        XCTAssertFalse(buffer.isSuspended)
    }

    func testR3AfterAnImmediateDeliveryTheClientIsStillSuspended() {
        suspend()
        XCTAssertEqual(post(1, to: Self.holding, immediately: true).deliveries.count, 1)
        XCTAssertEqual(post(2, to: Self.holding).deliveries, [])
    }

    func testR4APostForSeveralRegistrationsIsOneEntryAndIsDeliveredAtOnceIfOneOfThemRequiresIt() {
        suspend()
        post(1, to: Self.coalescing, Self.holding, Self.dropping)
        XCTAssertEqual(buffer.entryCount, 1)
        XCTAssertEqual(
            post(2, to: Self.coalescing, Self.dropping, Self.urgent).description, "[\"1→[1, 2]\", \"2→[1, 4]\"]")
        XCTAssertEqual(post(3, to: Self.holding, Self.dropping, immediately: true).description, "[\"3→[2, 3]\"]")
    }

    func testR5UnregisteringRemovesTheRegistrationFromHeldEntriesAndEntriesWithoutAny() {
        suspend()
        post(1, to: Self.holding)
        post(2, to: Self.coalescing, Self.holding)
        buffer.unregister(Self.holding.registration)
        XCTAssertEqual(buffer.entryCount, 1)
        XCTAssertEqual(resume().description, "[\"2→[1]\"]")
    }

    func testD1ACoalescingRegistrationKeepsTheLastPostOfEachNameAndObjectWithoutAGap() {
        suspend()
        post(1, "A", to: Self.coalescing)
        post(2, "B", to: Self.coalescing, Self.holding)
        post(3, "A", to: Self.coalescing)
        post(4, "B", to: Self.coalescing)
        XCTAssertEqual(resume().description, "[\"2→[2]\", \"3→[1]\", \"4→[1]\"]")
        XCTAssertEqual(buffer.counts.discarded, 0)
    }

    // MARK: D2

    func testAtTheLimitTheOldestAreDiscardedAndAGapCountsThemForEachRegistration() {
        suspend()
        post(1, "A", to: Self.coalescing, Self.holding)
        for number in 2...5 { post(number, "B", to: Self.holding) }
        XCTAssertEqual(resume().description, "gap 2 [\"1:1\", \"2:2\"] [\"3→[2]\", \"4→[2]\", \"5→[2]\"]")
        XCTAssertEqual(buffer.counts.discarded, 2)
    }

    func testALaterFlushShowsTheGapSinceTheLastOneAlsoIfNothingIsHeld() {
        suspend()
        for number in 1...4 { post(number, to: Self.holding) }
        XCTAssertEqual(post(5, to: Self.holding, immediately: true).gap, 1)
        post(6, to: Self.holding, byteCount: 3000)
        XCTAssertEqual(resume().description, "gap 1 [\"2:1\"] []")
        suspend()
        XCTAssertNil(resume().gap)
        XCTAssertEqual(buffer.counts.discarded, 2)
    }

    func testARemovedRegistrationGetsNoGap() {
        suspend()
        post(1, to: Self.holding, Self.coalescing, byteCount: 3000)
        post(2, to: Self.coalescing, byteCount: 3000)
        buffer.unregister(Self.coalescing.registration)
        XCTAssertEqual(post(3, to: Self.dropping, immediately: true).gaps, [2: 1])
        post(4, to: Self.holding, byteCount: 3000)
        buffer.unregister(Self.holding.registration)
        XCTAssertNil(resume().gap)
    }

    func testWithThePolicyToDeliverAFullQueueIsFlushedAndTheNewPostIsHeld() {
        buffer = SuspensionBuffer(entryLimit: 2, byteLimit: 2000, overflow: .deliver)
        suspend()
        post(1, to: Self.holding)
        post(2, to: Self.holding)
        XCTAssertEqual(post(3, to: Self.holding).description, "[\"1→[2]\", \"2→[2]\"]")
        XCTAssertTrue(buffer.isSuspended && buffer.entryCount == 1)
        XCTAssertEqual(post(4, to: Self.holding, byteCount: 3000).description, "[\"3→[2]\", \"4→[2]\"]")
        XCTAssertEqual(buffer.counts.discarded, 0)
    }

    func testAtAByteLimitOfTheClientOrTheServerTheOldestAreDiscardedUntilThereIsRoom() {
        suspend()
        post(1, to: Self.holding, byteCount: 900)
        post(2, to: Self.holding, byteCount: 900)
        post(3, to: Self.holding, byteCount: 100)
        XCTAssertEqual(buffer.byteCount, 1000 + 2 * SuspensionBuffer<TestPost>.bytesPerObserver)
        post(4, to: Self.holding, byteCount: 300, spareBytes: 0)
        XCTAssertEqual(resume().description, "gap 2 [\"2:2\"] [\"3→[2]\", \"4→[2]\"]")
    }

    func testAPostThatExceedsTheLimitAloneIsTheOnlyOneDiscarded() {
        suspend()
        post(1, "A", to: Self.coalescing)
        post(2, "A", to: Self.coalescing, byteCount: 3000)
        post(3, "A", to: Self.coalescing, byteCount: 2, spareBytes: 0)
        XCTAssertEqual(resume().description, "gap 2 [\"1:2\"] [\"1→[1]\"]")
    }

    // MARK: Cost

    func testAPostThatIsNotHeldIsNotCreated() {
        func neverMade() -> TestPost {
            XCTFail("was made")
            return TestPost(number: 0, key: "A")
        }
        _ = buffer.decide(neverMade(), observers: [Self.holding], immediately: false, spareBytes: 0)
        suspend()
        _ = buffer.decide(neverMade(), observers: [Self.holding], immediately: true, spareBytes: 0)
        _ = buffer.decide(neverMade(), observers: [Self.dropping], immediately: false, spareBytes: 0)
        _ = buffer.decide(neverMade(), observers: [Self.urgent], immediately: false, spareBytes: 0)
    }
}
