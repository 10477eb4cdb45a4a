import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// While a server is stopped, no call waits longer than its timeout, and no request is lost.
final class StoppedServerTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    private func center(postTimeout: Duration) throws -> DistributedCenter {
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: postTimeout)
        // Connected without the limit of a post.
        try center.synchronize(timeout: TestTimeout.hang)
        return center
    }

    /// Posts until the socket is full.
    private static func fill(_ center: DistributedCenter) -> (posted: Int, error: DistributedError?) {
        let large = String(repeating: "x", count: 10_000)
        for posted in 0..<10_000 {
            do throws(DistributedError) {
                try center.post(name: .numbered, userInfo: ["filler": .string(large)])
            } catch {
                return (posted, error)
            }
        }
        return (10_000, nil)
    }

    /// On threads of their own: one after the other, they would need longer than the test may.
    private func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let ended = Awaited(0)
        for index in 0..<count {
            Thread.detachNewThread {
                body(index)
                ended.withLock { $0 += 1 }
            }
        }
        XCTAssertTrue(ended.wait { $0 == count }, "it waits for the server")
    }

    func testCallsTimeOutAndRequestsAreServedWhenTheServerContinues() throws {
        let server = try temporary.startServer()
        let timeout = Duration.milliseconds(50)
        let center = try center(postTimeout: timeout)
        let (interruptions, received) = (Awaited(0), Awaited([String?]()))
        let events = center.addConnectionObserver(on: TargetThread.postingThread) { event in
            if case .interrupted = event { interruptions.withLock { $0 += 1 } }
        }
        func observe(_ name: String) throws -> ObserverToken {
            try center.addObserver(
                forName: Notification.Name(name), suspensionBehavior: .hold, on: TargetThread.postingThread
            ) { notification in received.withLock { $0.append(notification.object) } }
        }
        var removed: ObserverToken? = try observe("removed")
        let observer = try observe("observed")
        try center.synchronize(timeout: TestTimeout.hang)
        let (posted, added) = try server.stopped {
            center.suspend()
            try center.post(name: Notification.Name("observed"), object: "held")
            center.resume()
            try center.post(name: Notification.Name("observed"), object: "live")
            let (posted, error) = Self.fill(center)
            XCTAssertEqual([error?.code], [.notPosted])
            XCTAssertEqual(error?.cause?.contains("does not read"), true)
            // They do not fit into the socket.
            center.suspend()
            removed = nil
            let added = try observe("added")
            for call in [
                { try center.synchronize(timeout: timeout) },
                { [temporary] in _ = try DistributedCenter.status(of: temporary!.directory, timeout: timeout) },
            ] {
                XCTAssertThrowsError(try call()) { XCTAssertEqual(($0 as? DistributedError)?.code, .notAnswered) }
            }
            concurrently(100) { _ in XCTAssertEqual([Self.fill(center).error?.code], [.notPosted]) }
            return (posted, added)
        }
        try center.synchronize(timeout: TestTimeout.hang)
        XCTAssertEqual(received.withLock(\.self), ["held", "live"])
        XCTAssertNil(removed)
        let client = try XCTUnwrap(try temporary.status().clients.first)
        XCTAssertTrue(client.isSuspended)
        XCTAssertEqual(client.observers.map(\.name), ["observed", "added"])
        XCTAssertEqual(client.posted, posted + 2)
        XCTAssertEqual(interruptions.withLock(\.self), 0)
        withExtendedLifetime((events, observer, added)) {}
    }

    /// A wait of a second for each of them would take longer than the test may.
    func testACenterThatIsClosedOrReleasedDoesNotWaitForAStoppedServer() throws {
        let server = try temporary.startServer()
        let count = Int(TestTimeout.seconds) + 10
        let centers = Locked<[DistributedCenter?]>(
            try (0..<count).map { _ in try center(postTimeout: .milliseconds(1)) })
        let posted = server.stopped {
            let posted = centers.withLock { $0.reduce(0) { $0 + ($1.map { Self.fill($0).posted } ?? 0) } }
            concurrently(1) { _ in
                for index in 0..<count {
                    let center = centers.withLock { $0[index].take() }
                    if index.isMultiple(of: 2) { center?.close() }
                }
            }
            return posted
        }
        // What was posted before is served.
        XCTAssertTrue(try eventually { try temporary.status().clients.isEmpty })
        XCTAssertEqual(try temporary.status().posted, posted)
    }
}
