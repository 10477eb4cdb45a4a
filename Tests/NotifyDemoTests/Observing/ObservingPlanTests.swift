import XCTest

@testable import notify_demo

final class ObservingPlanTests: XCTestCase {
    func testWithoutACountAndATimeoutItWaitsForEventsOnly() {
        var plan = ObservingPlan()
        let first = plan.action(at: .zero)
        plan.countNotification()
        let later = plan.action(at: .seconds(1_000_000))
        XCTAssertEqual([first, later], [.wait(until: nil), .wait(until: nil)])
    }

    func testATimeoutIsAFailureOnlyIfACountWasGiven() {
        var counting = ObservingPlan(count: 2, timeout: .seconds(5))
        counting.countNotification()
        let before = counting.action(at: .seconds(4))
        let failed = counting.action(at: .seconds(5))
        var plain = ObservingPlan(timeout: .seconds(5))
        let ended = plain.action(at: .seconds(6))
        XCTAssertEqual([before, failed, ended], [.wait(until: .seconds(5)), .end(.failed), .end(.success)])
    }

    func testAllNotificationsAreASuccessEvenAfterTheTimeout() {
        var plan = ObservingPlan(count: 1, timeout: .seconds(5))
        XCTAssertFalse(plan.isComplete)
        plan.countNotification()
        let action = plan.action(at: .seconds(60))
        XCTAssertTrue(plan.isComplete)
        XCTAssertEqual(action, .end(.success))
    }

    func testDeliveryIsSuspendedOnceAndResumedOnce() {
        var plan = ObservingPlan(timeout: .seconds(9), suspendAfter: .seconds(1), resumeAfter: .seconds(2))
        let actions = [0, 1, 1, 3, 3, 9].map { plan.action(at: .seconds($0)) }
        XCTAssertEqual(
            actions,
            [
                .wait(until: .seconds(1)), .suspend, .wait(until: .seconds(3)), .resume, .wait(until: .seconds(9)),
                .end(.success),
            ])
    }

    func testALateCallReturnsTheDueActionsInOrderAndNoneThatWasDueAfterTheEnd() {
        var plan = ObservingPlan(timeout: .seconds(9), suspendAfter: .seconds(1), resumeAfter: .seconds(2))
        let all = (0..<3).map { _ in plan.action(at: .seconds(20)) }
        XCTAssertEqual(all, [.suspend, .resume, .end(.success)])
        var short = ObservingPlan(timeout: .seconds(2), suspendAfter: .seconds(1), resumeAfter: .seconds(2))
        let some = (0..<2).map { _ in short.action(at: .seconds(20)) }
        XCTAssertEqual(some, [.suspend, .end(.success)])
    }
}
