import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// Many threads use one center, and the guarantees hold for each observer.
final class CenterStressTests: XCTestCase {
    /// The notifications of each poster that one observer received.
    private struct Seen {
        var last: [Substring: Int] = [:]
        var received = 0
        var gap = 0
        var interruptions = 0
        var isInOrder = true
        var isCancelled = false

        /// - Parameter object: the poster's name and a number, which is larger each time.
        mutating func see(_ object: String?) {
            let parts = object?.split(separator: " ") ?? []
            guard parts.count == 2, let number = Int(parts[1]) else { return }
            if number <= last[parts[0], default: -1] || isCancelled { isInOrder = false }
            last[parts[0]] = number
            received += 1
        }
    }

    private static let posts = FaultRounds.postsOfAThread
    private static let posters = 4

    /// Threads post, add and remove observers, and suspend, all at one center, while `meanwhile` runs.
    private func run(_ center: DistributedCenter, on thread: RunLoopThread, meanwhile: @escaping @Sendable () -> Void) {
        let (posting, turns, comers) = (Awaited(Self.posters), Awaited(0), Awaited([Awaited<Seen>]()))
        /// - Returns: whether to continue, once also where the posters are done before this thread begins. On one core,
        ///   threads that never wait leave no time to a server that starts.
        @Sendable func hasPosters() -> Bool {
            let turn = turns.withLock { turns in
                turns += 1
                return turns
            }
            if turn.isMultiple(of: 16) { try? center.synchronize(timeout: TestTimeout.hang) }
            return posting.withLock { $0 > 0 }
        }
        var work: [@Sendable () -> Void] = (0..<Self.posters).map { index in
            {
                for number in 0..<Self.posts {
                    do { try center.post(name: .numbered, object: "\(index) \(number)") } catch { XCTFail("\(error)") }
                }
                posting.withLock { $0 -= 1 }
            }
        }
        work.append {
            repeat {
                let seen = Awaited(Seen())
                let token = try? center.addObserver(forName: .numbered, on: thread) { notification in
                    seen.withLock { $0.see(notification.object) }
                }
                comers.withLock { $0.append(seen) }
                // On the observer's thread nothing comes after it.
                try? thread.perform {
                    token?.cancel()
                    seen.withLock { $0.isCancelled = true }
                }
            } while hasPosters()
        }
        work.append {
            while hasPosters() {
                center.isSuspended ? center.resume() : center.suspend()
                // One that is removed where it is called.
                let token = try? center.addObserver(forName: nil, on: TargetThread.postingThread) { _ in }
                token?.cancel()
            }
            center.resume()
        }
        work.append(meanwhile)
        // Threads of their own: Dispatch has only as many as processors.
        let ended = Awaited(0)
        for work in work {
            Thread.detachNewThread {
                work()
                ended.withLock { $0 += 1 }
            }
        }
        XCTAssertTrue(ended.wait(120) { [count = work.count] in $0 == count }, "it hangs")
        XCTAssertNoThrow(try center.synchronize(timeout: TestTimeout.hang))
        XCTAssertTrue(comers.withLock { $0.allSatisfy { $0.withLock(\.isInOrder) } })
    }

    private func stress(kills: Int) throws {
        let temporary = try TemporaryDirectory()
        _ = try temporary.startServer()
        let thread = try RunLoopThread.started("observers")
        defer { thread.stop() }
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        var tokens: [ObserverToken] = []
        let observers = try [thread.targetThread, .postingThread].map { target in
            let seen = Awaited(Seen())
            tokens.append(
                center.addConnectionObserver(on: target) { event in
                    seen.withLock {
                        if case .gap(let gap) = event { $0.gap += gap.count }
                        if case .interrupted = event { $0.interruptions += 1 }
                    }
                })
            tokens.append(
                try center.addObserver(forName: .numbered, suspensionBehavior: .hold, on: target) { notification in
                    seen.withLock { $0.see(notification.object) }
                })
            return seen
        }
        try center.synchronize(timeout: TestTimeout.hang)
        run(center, on: thread) {
            for kill in 1..<kills + 1 {
                if let server = center.serverProcess { temporary.end(server) }
                XCTAssertTrue(observers[1].wait { $0.interruptions == kill })
                try? center.synchronize(timeout: TestTimeout.hang)
            }
        }
        let sent = Self.posts * Self.posters
        for seen in observers {
            XCTAssertTrue(seen.wait { $0.interruptions == kills && (kills > 0 || $0.received + $0.gap >= sent) })
            let seen = seen.withLock(\.self)
            if kills == 0 { XCTAssertEqual(seen.received + seen.gap, sent) }
            XCTAssertLessThanOrEqual(seen.received, sent)
            XCTAssertTrue(seen.isInOrder, "twice, or out of order")
        }
        withExtendedLifetime(tokens) {}
    }

    func testAddingAndRemovingObserversAndSuspendingLoseNoNotification() throws {
        try stress(kills: 0)
    }

    func testAKilledServerIsOneInterruptionAndRepeatsNoNotification() throws {
        try stress(kills: FaultRounds.kills)
    }
}
