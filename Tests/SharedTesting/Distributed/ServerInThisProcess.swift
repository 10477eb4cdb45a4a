internal import DistributedNotifications
package import Foundation
package import NotificationServer
internal import ThreadedNotifications
internal import XCTest

/// A server with limits that a test chooses, on a thread of this process. The deinit stops it.
package final class ServerInThisProcess {
    private let server: LocalServer
    private let ended = DispatchSemaphore(value: 0)
    private let seen: Seen

    private final class Seen: Sendable {
        package let events = Awaited([ServerEvent]())
        package let started = DispatchSemaphore(value: 0)
    }

    /// - Parameter report: called on the server's thread with each event.
    package init(
        _ temporary: FaultDirectory, limits: ServerLimits = ServerLimits(), endsWhenIdle: Bool = false,
        report: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) throws {
        let seen = Seen()
        self.seen = seen
        try temporary.directory.prepare()
        let server = LocalServer(directory: temporary.directory, limits: limits) { event in
            seen.events.withLock { $0.append(event) }
            if case .started = event { seen.started.signal() }
            report(event)
        }
        self.server = server
        let ended = ended
        Thread.detachNewThread {
            try? server.run(endsWhenIdle: endsWhenIdle)
            ended.signal()
        }
        XCTAssertEqual(seen.started.wait(timeout: .now() + TestTimeout.seconds), .success)
    }

    package var events: [ServerEvent] { seen.events.withLock { $0 } }

    /// Waits until the condition holds for the events so far, or the timeout has passed.
    /// - Returns: whether the condition holds.
    package func wait(_ timeout: TimeInterval = TestTimeout.seconds, until condition: ([ServerEvent]) -> Bool) -> Bool {
        seen.events.wait(timeout, until: condition)
    }

    package func stop() {
        server.stop()
        XCTAssertEqual(ended.wait(timeout: .now() + TestTimeout.seconds), .success, "the server does not stop")
        ended.signal()
    }

    deinit {
        stop()
    }
}
