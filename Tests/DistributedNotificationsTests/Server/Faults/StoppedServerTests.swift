import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// While a server is stopped, no call waits longer than its timeout, and no request is lost.
final class StoppedServerTests: XCTestCase {
    private let limit = Duration.milliseconds(50)

    private func stop(_ server: ObservedProcess) {
        kill(server.id, SIGSTOP)
        XCTAssertTrue(eventually { server.isStopped })
    }

    /// It throws after its limit, and not after that of a post.
    private func synchronizeInVain(_ center: DistributedCenter) {
        let begin = SuspendingClock.now
        let (error, isOver) = (Locked<DistributedError?>(nil), DispatchSemaphore(value: 0))
        Thread.detachNewThread { [limit] in
            do throws(DistributedError) { try center.synchronize(timeout: limit) } catch let late {
                error.withLock { $0 = late }
            }
            isOver.signal()
        }
        XCTAssertEqual(isOver.wait(timeout: .now() + TestTimeout.seconds), .success, "it waits as long as a post")
        let thrown = error.withLock { $0 }
        XCTAssertEqual(thrown?.code, .notAnswered, "\(String(describing: thrown))")
        XCTAssertEqual(thrown?.timeout, limit)
        XCTAssertGreaterThanOrEqual(begin.duration(to: .now), limit)
    }

    private func interruptions(_ center: DistributedCenter) -> (ObserverToken, Locked<Int>) {
        let count = Locked(0)
        let token = center.addConnectionObserver(on: TargetThread.postingThread) { event in
            if case .interrupted = event { count.withLock { $0 += 1 } }
        }
        return (token, count)
    }

    private func client(_ temporary: FaultDirectory) throws -> ServerStatus.Client? {
        try temporary.status().clients.first { $0.name == ProcessInfo.processInfo.processName }
    }

    func testRequestsToAStoppedServerAreServedWhenItContinues() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        var limits = ClientLimits()
        limits.postTimeout = .seconds(3600)
        let center = try DistributedCenter(directory: temporary.directory, limits: limits)
        let (token, interruptions) = interruptions(center)
        try center.synchronize(timeout: TestTimeout.hang)
        stop(server)
        defer { kill(server.id, SIGCONT) }
        let received = Locked([String?]())
        let observer = try center.addObserver(
            forName: .numbered, suspensionBehavior: .hold, on: TargetThread.postingThread
        ) { notification in received.withLock { $0.append(notification.object) } }
        center.suspend()
        try center.post(name: .numbered, object: "held")
        synchronizeInVain(center)
        synchronizeInVain(center)
        center.resume()
        try center.post(name: .numbered, object: "live")
        XCTAssertEqual(received.withLock { $0 }, [])
        kill(server.id, SIGCONT)
        try center.synchronize(timeout: TestTimeout.hang)
        XCTAssertEqual(received.withLock { $0 }, ["held", "live"])
        XCTAssertEqual(try client(temporary)?.observers.count, 1)
        XCTAssertEqual(interruptions.withLock { $0 }, 0)
        withExtendedLifetime((token, observer)) {}
    }

    /// Posts until the socket is full.
    private func fill(_ temporary: FaultDirectory, _ center: DistributedCenter) throws -> Int {
        let large = String(repeating: "x", count: 10_000)
        for posted in 0..<10_000 {
            do throws(DistributedError) {
                try center.post(name: .mark, userInfo: ["filler": .string(large)])
            } catch {
                guard error.code == .notPosted else { throw error }
                return posted
            }
        }
        XCTFail("the socket is never full")
        return 10_000
    }

    /// A wait of a second for each of them would take longer than the test may.
    func testACenterThatIsClosedOrReleasedDoesNotWaitForAStoppedServer() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        var limits = ClientLimits()
        limits.postTimeout = .milliseconds(1)
        var centers: [DistributedCenter?] = []
        for _ in 0..<Int(TestTimeout.seconds) + 10 {
            let center = try DistributedCenter(directory: temporary.directory, limits: limits)
            try center.synchronize(timeout: TestTimeout.hang)
            centers.append(center)
        }
        stop(server)
        defer { kill(server.id, SIGCONT) }
        let posted = try centers.reduce(0) { try $0 + fill(temporary, XCTUnwrap($1)) }
        let isOver = expectation(description: "all are closed")
        let taken = Locked(centers)
        centers = []
        Thread.detachNewThread {
            for index in taken.withLock({ $0 }).indices {
                let center = taken.withLock { $0[index].take() }
                if index.isMultiple(of: 2) { center?.close() }
            }
            isOver.fulfill()
        }
        wait(for: [isOver], timeout: TestTimeout.seconds)
        kill(server.id, SIGCONT)
        // What was posted before is served.
        XCTAssertTrue(try eventually { try temporary.status().clients.isEmpty })
        XCTAssertEqual(try temporary.status().posted, posted)
    }

    func testRequestsThatDoNotFitIntoTheSocketKeepTheConnectionAndAreWrittenWhenTheServerContinues() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        var limits = ClientLimits()
        limits.postTimeout = limit
        let center = try DistributedCenter(directory: temporary.directory, limits: limits)
        let (token, interruptions) = interruptions(center)
        var removed: ObserverToken? = try center.addObserver(forName: .mark) { _ in }
        try center.synchronize(timeout: TestTimeout.hang)
        stop(server)
        defer { kill(server.id, SIGCONT) }
        let posted = try fill(temporary, center)
        center.suspend()
        removed = nil
        let added = try center.addObserver(forName: .numbered, suspensionBehavior: .hold) { _ in }
        for _ in 0..<2 { synchronizeInVain(center) }
        kill(server.id, SIGCONT)
        try center.synchronize(timeout: TestTimeout.hang)
        let client = try XCTUnwrap(try client(temporary))
        XCTAssertTrue(client.isSuspended)
        XCTAssertEqual(client.observers.map(\.name), ["n"])
        XCTAssertEqual(client.posted, posted)
        XCTAssertEqual(interruptions.withLock { $0 }, 0)
        XCTAssertNil(removed)
        withExtendedLifetime((token, added)) {}
    }
}
