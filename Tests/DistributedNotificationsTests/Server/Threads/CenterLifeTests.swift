import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The end of a center, and of its connections.
final class CenterLifeTests: XCTestCase {
    private final class Box: Sendable {
        let token: Locked<ObserverToken?>
        init(_ token: ObserverToken) { self.token = Locked(token) }
    }

    /// - Returns: whether it returned within the limit.
    private func returns(_ body: @escaping @Sendable () -> Void) -> Bool {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            body()
            done.signal()
        }
        return done.wait(timeout: .now() + TestTimeout.seconds) == .success
    }

    func testAHandlerThatKeepsAnotherObserversTokenDoesNotKeepACenterFromClosing() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let center = try DistributedCenter(directory: temporary.directory)
        var box: Box? = Box(try center.addObserver(forName: .numbered) { _ in })
        let token = try center.addObserver(forName: .numbered) { [box] _ in withExtendedLifetime(box) {} }
        box = nil
        try center.synchronize(timeout: TestTimeout.hang)
        XCTAssertTrue(returns { center.close() }, "close does not return")
        withExtendedLifetime((server, token)) {}
    }

    func testAClientPausesBeforeItConnectsAgainToAServerThatEndsEachConnection() throws {
        let temporary = try FaultDirectory()
        var limits = ServerLimits()
        limits.observersPerClient = 1
        let server = try ServerInThisProcess(temporary, limits: limits)
        let begin = SuspendingClock.now
        let center = try DistributedCenter(directory: temporary.directory)
        let tokens = try (0..<2).map { _ in try center.addObserver(forName: .numbered) { _ in } }
        XCTAssertTrue(server.wait { $0.count { if case .clientRefused = $0 { true } else { false } } >= 4 })
        // A lower bound, which a busy machine does not break: without a pause they take a few milliseconds.
        XCTAssertGreaterThan(begin.duration(to: .now), .milliseconds(100))
        withExtendedLifetime(tokens) {}
        center.close()
    }

    func testManyPostersToAStoppedServerEachTimeOut() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        var limits = ClientLimits()
        limits.postTimeout = .milliseconds(100)
        let center = try DistributedCenter(directory: temporary.directory, limits: limits)
        try center.synchronize(timeout: TestTimeout.hang)
        kill(server.id, SIGSTOP)
        defer { kill(server.id, SIGCONT) }
        XCTAssertTrue(eventually { server.isStopped })
        let text = String(repeating: "x", count: 1000)
        // Threads of their own: Dispatch has only as many as processors. One after the other, they would need 20 s.
        let (threads, told) = (100, DispatchSemaphore(value: 0))
        for _ in 0..<threads {
            Thread.detachNewThread {
                for _ in 0..<FaultRounds.postsThatAreLate {
                    while true {
                        do throws(DistributedError) {
                            try center.post(name: .numbered, object: text)
                        } catch {
                            break
                        }
                    }
                }
                told.signal()
            }
        }
        let limit = DispatchTime.now() + TestTimeout.seconds
        for _ in 0..<threads { XCTAssertEqual(told.wait(timeout: limit), .success) }
        XCTAssertTrue(returns { center.close() }, "close does not return")
    }

    func testACenterThatIsClosedWhileItConnectsShowsNoFailure() throws {
        let temporary = try FaultDirectory()
        try temporary.directory.prepare()
        // It accepts connections, but answers no hello.
        let listener = try LocalSocket.bound(at: temporary.directory.socketPath)
        XCTAssertTrue(listener.listen())
        let center = try DistributedCenter(directory: temporary.directory)
        let events = Locked([ConnectionEvent]())
        let token = center.addConnectionObserver(on: TargetThread.postingThread) { event in
            events.withLock { $0.append(event) }
        }
        let observer = try center.addObserver(forName: .numbered) { _ in }
        var accepted: LocalSocket?
        XCTAssertTrue(
            eventually {
                accepted = listener.accept()
                return accepted != nil
            })
        center.close()
        XCTAssertEqual(center.connectionState, .closed)
        XCTAssertTrue(eventually { accepted.map { Self.hasEnded($0) } ?? false })
        XCTAssertEqual(events.withLock { $0 }, [])
        withExtendedLifetime((token, observer)) {}
    }

    private static func hasEnded(_ socket: LocalSocket) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        return recv(socket.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) == 0
    }

    func testNotificationsThatCannotBeReadDoNotGrowWithoutLimit() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        var limits = ClientLimits()
        limits.waitingBytes = 100_000
        let center = try DistributedCenter(directory: temporary.directory, limits: limits)
        let thread = RunLoopThread(name: "observers")
        try thread.start()
        defer { thread.stop() }
        let gate = DispatchSemaphore(value: 0)
        let seen = Awaited((events: 0, count: 0, connected: false))
        let token = center.addConnectionObserver(on: thread) { event in
            if case .connected = event {
                seen.withLock { $0.connected = true }
                gate.wait()
            }
            if case .gap(let gap) = event {
                seen.withLock {
                    $0.events += 1
                    $0.count += gap.count
                }
            }
        }
        let observer = try center.addObserver(forName: .numbered, on: thread) { _ in }
        try center.synchronize(timeout: TestTimeout.hang)
        let poster = try RawPeer(temporary.directory, name: "poster")
        // Its userInfo is no property list.
        for _ in 0..<10 {
            try poster.post(Notification.Name.numbered.rawValue, numbers: 0..<2000, byteCount: 20)
            try poster.synchronize()
            try center.synchronize(timeout: TestTimeout.hang)
        }
        gate.signal()
        XCTAssertTrue(seen.wait { $0.count == 20_000 }, "\(seen.withLock { $0 })")
        XCTAssertLessThan(seen.withLock { $0.events }, 2000)
        withExtendedLifetime((server, token, observer)) {}
    }
}
