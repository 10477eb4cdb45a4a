import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The turns of a server, one at a time.
final class ServerLoopTests: XCTestCase {
    private var temporary: TemporaryDirectory!
    private var stop: EventDescriptor!

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
        stop = try XCTUnwrap(EventDescriptor())
    }

    override func tearDown() {
        (temporary, stop) = (nil, nil)
    }

    private func loop() throws -> ServerLoop {
        let served = try ServedSocket.open(at: temporary.directory, timeout: .seconds(20))
        guard
            let loop = ServerLoop(served, limits: ServerLimits(), endsWhenIdle: false, stop: stop, report: { _ in })
        else { throw POSIXError(.EMFILE) }
        return loop
    }

    /// True if the next turn would begin immediately.
    private var isToldToStop: Bool {
        var descriptor = pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    func testAServerThatAlreadyStopsNoticesAnotherStopOnce() throws {
        for reason in ["it was told to", "its socket was removed"] {
            var loop = try loop()
            loop.beginStop(reason)
            stop.makeReady()
            loop.turn()
            XCTAssertFalse(isToldToStop)
            XCTAssertNotNil(loop.stopAt)
        }
    }

    func testAStopIsNoticedOnce() throws {
        var loop = try loop()
        stop.makeReady()
        loop.turn()
        XCTAssertFalse(isToldToStop)
        XCTAssertNotNil(loop.stopAt)
    }
}
