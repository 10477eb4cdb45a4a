internal import DistributedNotifications
internal import Foundation
package import NotificationServer
internal import XCTest

/// A server with limits that a test chooses, on a thread of this process. The deinit stops it.
package final class ServerInThisProcess {
    private let server: LocalServer
    private let ended = DispatchSemaphore(value: 0)
    private let logged = Awaited([String]())

    /// - Parameters:
    ///   - change: makes the limits, from the default ones.
    ///   - log: called on the server's thread with each line.
    package init(
        _ temporary: TemporaryDirectory,
        _ change: (inout ServerLimits) -> Void = { _ in }, log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        var limits = ServerLimits()
        change(&limits)
        let (logged, ended) = (logged, ended)
        try temporary.directory.prepare()
        let server = LocalServer(directory: temporary.directory, limits: limits) { line in
            logged.withLock { $0.append(line) }
            log(line)
        }
        self.server = server
        Thread.detachNewThread {
            try? server.run()
            ended.signal()
        }
        XCTAssertTrue(hasLogged(" serves at "))
    }

    /// The logged lines with a text.
    package func lines(_ text: String) -> [String] { logged.withLock { $0.filter { $0.contains(text) } } }

    /// Waits until so many lines with a text are logged.
    package func hasLogged(_ text: String, _ count: Int = 1) -> Bool {
        logged.wait { $0.count { $0.contains(text) } >= count }
    }

    deinit {
        server.stop()
        XCTAssertEqual(ended.wait(timeout: .now() + TestTimeout.seconds), .success, "the server does not stop")
    }
}
