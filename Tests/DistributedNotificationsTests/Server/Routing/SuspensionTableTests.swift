import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The table of suspension behaviors, cell by cell. Before each post, post 1 of the same name is held for registration
/// 9, which holds, and post 2 for the registration in question, if it keeps any.
final class SuspensionTableTests: XCTestCase {
    private typealias Delivery = SuspensionOutcome.Delivery

    /// The frames for the client after the post, and after it resumes.
    private struct Cell {
        var atOnce: [Delivery]
        var atResumption: [Delivery]
    }

    private static func cell(_ behavior: SuspensionBehavior, isSuspended: Bool, immediately: Bool = false) -> Cell {
        var buffer = SuspensionBuffer<TestPost>(entryLimit: 10, byteLimit: 1 << 20, overflow: .discardOldest)
        let holding = MatchingObserver(registration: 9, behavior: .hold)
        let observers = [MatchingObserver(registration: 1, behavior: behavior)]
        _ = buffer.setSuspended(isSuspended)
        let earlier = [(1, [holding])] + (behavior == .coalesce || behavior == .hold ? [(2, observers)] : [])
        for (number, observers) in earlier where isSuspended {
            _ = buffer.decide(
                TestPost(number: number, key: "A"), observers: observers, immediately: false, spareBytes: 1 << 20)
        }
        let arrival = buffer.decide(
            TestPost(number: 3, key: "A"), observers: observers, immediately: immediately, spareBytes: 1 << 20)
        let atOnce = SuspensionOutcome(arrival, of: 3)
        // Suspended as before, whatever was delivered.
        XCTAssertEqual(buffer.isSuspended, isSuspended)
        let atResumption = SuspensionOutcome(buffer.setSuspended(false))
        XCTAssertTrue(atOnce.gap == nil && atResumption.gap == nil)
        return Cell(atOnce: atOnce.deliveries, atResumption: atResumption.deliveries)
    }

    private static let first = Delivery(post: 1, registrations: [9])
    private static let second = Delivery(post: 2, registrations: [1])
    private static let third = Delivery(post: 3, registrations: [1])

    // MARK: Running

    func testWhileRunningEachPostIsDeliveredAtOnce() {
        for behavior in SuspensionBehavior.allCases {
            for immediately in [false, true] { running(behavior: behavior, immediately: immediately) }
        }
    }

    private func running(behavior: SuspensionBehavior, immediately: Bool) {
        let cell = Self.cell(behavior, isSuspended: false, immediately: immediately)
        XCTAssertEqual(cell.atOnce, [Self.third])
        XCTAssertEqual(cell.atResumption, [])
    }

    // MARK: Suspended, a normal post

    func testWhileSuspendedANormalPostForDropIsDiscarded() {
        let cell = Self.cell(.drop, isSuspended: true)
        XCTAssertEqual(cell.atOnce, [])
        XCTAssertEqual(cell.atResumption, [Self.first])
    }

    func testWhileSuspendedANormalPostForCoalesceReplacesTheEarlierOneOfThisRegistrationOnly() {
        let cell = Self.cell(.coalesce, isSuspended: true)
        XCTAssertEqual(cell.atOnce, [])
        XCTAssertEqual(cell.atResumption, [Self.first, Self.third])
    }

    func testWhileSuspendedANormalPostForHoldIsAppended() {
        let cell = Self.cell(.hold, isSuspended: true)
        XCTAssertEqual(cell.atOnce, [])
        XCTAssertEqual(cell.atResumption, [Self.first, Self.second, Self.third])
    }

    func testWhileSuspendedANormalPostForDeliverImmediatelyFlushesTheClientFirst() {
        let cell = Self.cell(.deliverImmediately, isSuspended: true)
        XCTAssertEqual(cell.atOnce, [Self.first, Self.third])
        XCTAssertEqual(cell.atResumption, [])
    }

    // MARK: Suspended, a post with deliverImmediately

    func testWhileSuspendedAnImmediatePostForDropFlushesTheClientFirst() {
        let cell = Self.cell(.drop, isSuspended: true, immediately: true)
        XCTAssertEqual(cell.atOnce, [Self.first, Self.third])
        XCTAssertEqual(cell.atResumption, [])
    }

    func testWhileSuspendedAnImmediatePostForCoalesceFlushesTheClientAndTheSimilarPostFirst() {
        let cell = Self.cell(.coalesce, isSuspended: true, immediately: true)
        XCTAssertEqual(cell.atOnce, [Self.first, Self.second, Self.third])
        XCTAssertEqual(cell.atResumption, [])
    }

    func testWhileSuspendedAnImmediatePostForHoldFlushesTheClientFirst() {
        let cell = Self.cell(.hold, isSuspended: true, immediately: true)
        XCTAssertEqual(cell.atOnce, [Self.first, Self.second, Self.third])
        XCTAssertEqual(cell.atResumption, [])
    }

    func testWhileSuspendedAnImmediatePostForDeliverImmediatelyFlushesTheClientFirst() {
        let cell = Self.cell(.deliverImmediately, isSuspended: true, immediately: true)
        XCTAssertEqual(cell.atOnce, [Self.first, Self.third])
        XCTAssertEqual(cell.atResumption, [])
    }
}
