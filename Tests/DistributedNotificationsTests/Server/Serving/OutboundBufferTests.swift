import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Times are drawn, not waited for.
final class OutboundBufferTests: XCTestCase {
    private static func second(_ seconds: Int) -> UInt64 { UInt64(seconds) * 1_000_000_000 }

    /// A buffer for 100 bytes for 10 s, and for 1000 bytes, in which some wait.
    private static func buffer(waiting: Int) -> OutboundBuffer {
        var limits = ServerLimits()
        (limits.softQueueBytes, limits.hardQueueBytes) = (100, 1000)
        var buffer = OutboundBuffer(limits)
        buffer.append([UInt8](repeating: 7, count: waiting), now: 0)
        return buffer
    }

    func testBytesBeyondTheSoftLimitAreAcceptedUntilTheTimeoutWhichRestartsBelowIt() {
        var buffer = Self.buffer(waiting: 150)
        var admitted = [0, 10].map { buffer.admits(1, now: Self.second($0)) }
        _ = buffer.wrote(60, now: Self.second(10))
        buffer.append([UInt8](repeating: 7, count: 60), now: Self.second(10))
        admitted += [11, 21, 22].map { buffer.admits(1, now: Self.second($0)) }
        XCTAssertEqual(admitted, [true, true, true, true, false])
    }

    func testBytesBeyondTheHardLimitAreDroppedUntilAllIsWrittenAndTheGapIsReturnedOnce() {
        var buffer = Self.buffer(waiting: 990)
        var admitted = [buffer.admits(10, now: 0), buffer.admits(11, now: 0), buffer.admits(1, now: 0)]
        buffer.missed += 3
        var gaps = [buffer.wrote(980, now: 1)]
        admitted.append(buffer.admits(1, now: 1))
        gaps.append(buffer.wrote(10, now: 2))
        admitted.append(buffer.admits(1, now: 2))
        buffer.append([1], now: 3)
        gaps.append(buffer.wrote(1, now: 3))
        XCTAssertEqual(admitted, [true, false, false, false, true])
        XCTAssertEqual(gaps, [nil, 3, nil])
    }
}
