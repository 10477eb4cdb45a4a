import XCTest

@testable import NotificationServer

final class ServerLimitsTests: XCTestCase {
    func testLimitsWithWhichNothingWorksAreChangedAndSumsDoNotOverflow() {
        XCTAssertEqual(ServerLimits().usable, ServerLimits())
        for (asked, given) in [
            (Int.min, [1, 1, 1, 1, 0, 0, 0]), (0, [1, 1, 1, 1, 0, 0, 0]), (599, [599, 599, 599, 599, 599, 599, 599]),
            (Int.max, [1 << 40, 1 << 40, Int.max, 1 << 40, 600, 1 << 40, 1 << 40]),
        ] {
            let keys =
                [
                    \.clientsBeforeHello, \.framesPerTurn, \.postsAtOnce, \.postsPerSecond, \.observersPerClient,
                    \.hardQueueBytes, \.heldBytesPerClient,
                ] as [WritableKeyPath<ServerLimits, Int>]
            var limits = ServerLimits()
            for key in keys { limits[keyPath: key] = asked }
            XCTAssertEqual(keys.map { limits.usable[keyPath: $0] }, given, "\(asked)")
            XCTAssertGreaterThan(limits.usable.repliesLimit, 0)
        }
        for (duration, nanoseconds) in [
            (.seconds(-1), 0), (.milliseconds(1500), 1_500_000_000), (.nanoseconds(7), 7),
            (.seconds(Int64.max), 1_000_000_000_000_000_000),
        ] as [(Duration, UInt64)] { XCTAssertEqual(duration.nanoseconds, nanoseconds) }
    }
}
