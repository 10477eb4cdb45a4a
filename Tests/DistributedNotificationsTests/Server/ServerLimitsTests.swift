import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class ServerLimitsTests: XCTestCase {
    func testTheDefaultsAreUsableAsTheyAre() {
        XCTAssertEqual(ServerLimits().usable, ServerLimits())
    }

    func testLimitsWithWhichNothingWorksAreRaised() {
        for value in [Int.min, -1, 0] {
            var limits = ServerLimits()
            limits.clientsBeforeHello = value
            limits.framesPerTurn = value
            limits.postsAtOnce = value
            limits.postsPerSecond = value
            limits.observersPerClient = value
            let usable = limits.usable
            XCTAssertEqual(usable.clientsBeforeHello, 1)
            XCTAssertEqual(usable.framesPerTurn, 1)
            XCTAssertEqual(usable.postsAtOnce, 1)
            XCTAssertEqual(usable.postsPerSecond, 1)
            XCTAssertEqual(usable.observersPerClient, 0)
            XCTAssertEqual(usable.usable, usable)
        }
    }

    func testPostsAtOnceIsAtLeastFramesPerTurn() {
        var limits = ServerLimits()
        limits.framesPerTurn = 100
        limits.postsAtOnce = 20
        XCTAssertEqual(limits.usable.postsAtOnce, 100)
        limits.postsAtOnce = 101
        XCTAssertEqual(limits.usable.postsAtOnce, 101)
    }

    func testTheObserverLimitIsAtMostTheNumberThatFitsIntoAFrame() {
        for (asked, usable) in [(599, 599), (600, 600), (601, 600), (Int.max, 600)] {
            var limits = ServerLimits()
            limits.observersPerClient = asked
            XCTAssertEqual(limits.usable.observersPerClient, usable)
        }
    }

    func testOtherLimitsStayAsTheyAre() {
        var limits = ServerLimits()
        (limits.clients, limits.helloTimeout) = (-1, .seconds(-3))
        (limits.softQueueBytes, limits.softQueueTimeout, limits.hardQueueBytes) = (-4, .seconds(-5), -6)
        (limits.progressTimeout, limits.idleTimeout, limits.stopTimeout) = (.seconds(-7), .seconds(-8), .seconds(-9))
        (limits.heldEntriesPerClient, limits.heldBytesPerClient, limits.heldBytes) = (-10, -11, -12)
        limits.heldOverflow = .deliver
        XCTAssertEqual(limits.usable, limits)
    }

    func testNegativeDurationsAreZeroAndVeryLongOnesAreLimited() {
        XCTAssertEqual(Duration.seconds(-1).nanoseconds, 0)
        XCTAssertEqual(Duration.milliseconds(1500).nanoseconds, 1_500_000_000)
        XCTAssertEqual(Duration.nanoseconds(7).nanoseconds, 7)
        XCTAssertEqual(Duration.seconds(Int64.max).nanoseconds, 1_000_000_000_000_000_000)
    }
}
