import Foundation
import Glibc
import NotificationServer
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// The end of a center, and of its connections.
final class CenterLifeTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    func testAHandlerThatKeepsAnotherObserversTokenDoesNotKeepACenterFromClosing() throws {
        let server = try ServerInThisProcess(temporary)
        let center = try DistributedCenter(directory: temporary.directory)
        let kept = Locked<ObserverToken?>(try center.addObserver(forName: .numbered) { _ in })
        let token = try center.addObserver(forName: .numbered) { [kept] _ in withExtendedLifetime(kept) {} }
        try center.synchronize(timeout: TestTimeout.hang)
        let closed = expectation(description: "close returns")
        Thread.detachNewThread {
            center.close()
            closed.fulfill()
        }
        wait(for: [closed], timeout: TestTimeout.seconds)
        withExtendedLifetime((server, token)) {}
    }

    func testAClientPausesBeforeItConnectsAgainToAServerThatEndsEachConnection() throws {
        let server = try ServerInThisProcess(temporary) { $0.observersPerClient = 1 }
        let begin = SuspendingClock.now
        let center = try DistributedCenter(directory: temporary.directory)
        let tokens = try (0..<2).map { _ in try center.addObserver(forName: .numbered) { _ in } }
        XCTAssertTrue(server.hasLogged("more than 1 observers", 4))
        // A lower bound, which a busy machine does not break: without a pause they take a few milliseconds.
        XCTAssertGreaterThan(begin.duration(to: .now), .milliseconds(100))
        withExtendedLifetime(tokens) {}
        center.close()
    }

    func testACenterThatIsClosedWhileItConnectsShowsNoFailure() throws {
        try temporary.directory.prepare()
        // It accepts connections, but answers no hello.
        let listener = try LocalSocket.bound(at: temporary.directory.socketPath)
        XCTAssertTrue(listener.listen())
        let center = try DistributedCenter(directory: temporary.directory)
        let events = Awaited([ConnectionEvent]())
        let tokens = [
            center.addConnectionObserver(on: TargetThread.postingThread) { event in
                events.withLock { $0.append(event) }
            },
            try center.addObserver(forName: .numbered) { _ in },
        ]
        var waiting = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        XCTAssertEqual(poll(&waiting, 1, Int32(TestTimeout.seconds * 1000)), 1)
        let accepted = RawPeer(try XCTUnwrap(listener.accept()))
        center.close()
        XCTAssertNil(center.serverProcess)
        while try accepted.next() != .end {}
        XCTAssertEqual(events.withLock(\.self), [])
        withExtendedLifetime(tokens) {}
    }
}
