import Foundation
import Glibc
import Testing
import ThreadedNotifications

@testable import DistributedNotifications
@testable import DistributedTesting
@testable import NotificationServer

/// The turns of a server, one at a time.
struct ServerLoopTests {
    private let temporary: TemporaryPlace
    private let stop: EventDescriptor

    init() throws {
        temporary = try TemporaryPlace()
        stop = try #require(EventDescriptor())
    }

    private func loop() throws -> ServerLoop {
        let served = try ServedSocket.open(at: temporary.place, timeout: .seconds(20))
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

    @Test(arguments: ["it was told to", "its socket was removed"])
    func aServerThatAlreadyStopsNoticesAnotherStopOnce(reason: String) throws {
        var loop = try loop()
        loop.beginStop(reason)
        stop.makeReady()
        loop.turn()
        #expect(!isToldToStop)
        #expect(loop.stopAt != nil)
    }

    @Test func aStopIsNoticedOnce() throws {
        var loop = try loop()
        stop.makeReady()
        loop.turn()
        #expect(!isToldToStop)
        #expect(loop.stopAt != nil)
    }
}
