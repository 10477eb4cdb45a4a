import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class ServerLimitsTests: XCTestCase {
    private func usable(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        var limits = ServerLimits()
        change(&limits)
        return limits.usable
    }

    func testTheDefaultsAreUsableAsTheyAre() {
        XCTAssertEqual(ServerLimits().usable, ServerLimits())
    }

    func testLimitsWithWhichNothingWorksAreRaisedAndObserversAreAtMostThoseThatFitIntoAFrame() {
        for value in [Int.min, -1, 0] {
            let limits = usable {
                ($0.clientsBeforeHello, $0.framesPerTurn, $0.postsAtOnce) = (value, value, value)
                ($0.postsPerSecond, $0.observersPerClient) = (value, value)
            }
            XCTAssertEqual([limits.clientsBeforeHello, limits.framesPerTurn, limits.postsAtOnce], [1, 1, 1])
            XCTAssertEqual([limits.postsPerSecond, limits.observersPerClient], [1, 0])
        }
        for (asked, given) in [(599, 599), (600, 600), (Int.max, 600)] {
            XCTAssertEqual(usable { $0.observersPerClient = asked }.observersPerClient, given)
        }
        for (asked, given) in [(20, 100), (101, 101)] {
            XCTAssertEqual(usable { ($0.framesPerTurn, $0.postsAtOnce) = (100, asked) }.postsAtOnce, given)
        }
    }

    func testSumsOfTheLargestBytesDoNotOverflow() {
        for (asked, given) in [(Int.max, 1 << 40), (Int.min, 0)] {
            let limits = usable { ($0.hardQueueBytes, $0.heldBytesPerClient) = (asked, asked) }
            XCTAssertEqual([limits.hardQueueBytes, limits.heldBytesPerClient], [given, given])
            XCTAssertGreaterThan(limits.repliesLimit, 2 * given)
        }
    }

    func testNegativeDurationsAreZeroAndVeryLongOnesAreLimited() {
        for (duration, nanoseconds) in [
            (Duration.seconds(-1), 0), (.milliseconds(1500), 1_500_000_000), (.nanoseconds(7), 7),
            (.seconds(Int64.max), 1_000_000_000_000_000_000),
        ] as [(Duration, UInt64)] { XCTAssertEqual(duration.nanoseconds, nanoseconds) }
    }
}
