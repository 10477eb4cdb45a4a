import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Many threads use one center, and the guarantees hold for each observer.
final class CenterStressTests: XCTestCase {
    /// The notifications of each poster that one observer received.
    private final class Seen: Sendable {
        struct Values {
            var last: [Substring: Int] = [:]
            var received = 0
            var isInOrder = true
            var isCancelled = false
            var cameAfterwards = 0
        }
        let values = Locked(Values())

        /// - Parameter object: the poster's name and a number, which is larger each time.
        func see(_ object: String?) {
            values.withLock { values in
                let parts = object?.split(separator: " ") ?? []
                guard parts.count == 2, let number = Int(parts[1]) else { return }
                if number <= values.last[parts[0], default: -1] { values.isInOrder = false }
                values.last[parts[0]] = number
                values.received += 1
                if values.isCancelled { values.cameAfterwards += 1 }
            }
        }
    }

    private static let posts = FaultRounds.postsOfAThread
    private static let posters = 4

    /// Threads post, add and remove observers, and suspend, all at one center, while `meanwhile` runs.
    private func run(_ center: DistributedCenter, on thread: RunLoopThread, meanwhile: @escaping @Sendable () -> Void) {
        let comers = Locked([Seen]())
        let posting = Locked(Self.posters)
        let turns = Locked(0)
        /// On one core, threads that never wait leave no time to a server that starts.
        @Sendable func waitNowAndThen() {
            let turn = turns.withLock { turns in
                turns += 1
                return turns
            }
            if turn.isMultiple(of: 16) { try? center.synchronize(timeout: TestTimeout.hang) }
        }
        @Sendable func work(_ index: Int) {
            switch index {
            case ..<Self.posters:
                for number in 0..<Self.posts {
                    do throws(DistributedError) {
                        try center.post(name: .numbered, object: "\(index) \(number)")
                    } catch {
                        XCTFail("\(error)")
                    }
                }
                posting.withLock { $0 -= 1 }
            case Self.posters:
                // Once also where the posters are done before this thread begins.
                repeat {
                    waitNowAndThen()
                    let seen = Seen()
                    guard
                        let token = try? center.addObserver(
                            forName: .numbered, on: thread, using: { seen.see($0.object) })
                    else { continue }
                    comers.withLock { $0.append(seen) }
                    // On the observer's thread nothing comes after it.
                    try? thread.perform {
                        token.cancel()
                        seen.values.withLock { $0.isCancelled = true }
                    }
                } while posting.withLock({ $0 }) > 0
            case Self.posters + 1:
                while posting.withLock({ $0 }) > 0 {
                    waitNowAndThen()
                    center.isSuspended ? center.resume() : center.suspend()
                    // One that is removed where it is called.
                    let token = try? center.addObserver(forName: nil, on: TargetThread.postingThread) { _ in }
                    token?.cancel()
                }
                center.resume()
            default:
                meanwhile()
            }
        }
        // Threads of their own: Dispatch has only as many as processors.
        let ended = DispatchSemaphore(value: 0)
        for index in 0..<Self.posters + 3 {
            Thread.detachNewThread {
                work(index)
                ended.signal()
            }
        }
        for _ in 0..<Self.posters + 3 { XCTAssertEqual(ended.wait(timeout: .now() + 120), .success, "it hangs") }
        do throws(DistributedError) { try center.synchronize(timeout: TestTimeout.hang) } catch { XCTFail("\(error)") }
        comers.withLock { comers in
            XCTAssertFalse(comers.isEmpty)
            XCTAssertTrue(comers.allSatisfy { $0.values.withLock { $0.isInOrder && $0.cameAfterwards == 0 } })
        }
    }

    private func stress(kills: Int) throws {
        let temporary = try FaultDirectory()
        _ = try temporary.startServer()
        let thread = RunLoopThread(name: "observers")
        try thread.start()
        defer { thread.stop() }
        let center = try DistributedCenter(directory: temporary.directory, limits: .patient)
        let gaps = Locked((count: 0, interruptions: 0))
        let events = center.addConnectionObserver(on: thread) { event in
            gaps.withLock {
                if case .gap(let gap) = event { $0.count += gap.count }
                if case .interrupted = event { $0.interruptions += 1 }
            }
        }
        let (near, here) = (Seen(), Seen())
        let tokens = [
            try center.addObserver(forName: .numbered, suspensionBehavior: .hold, on: thread) { near.see($0.object) },
            try center.addObserver(forName: .numbered, suspensionBehavior: .hold, on: TargetThread.postingThread) {
                here.see($0.object)
            },
        ]
        try center.synchronize(timeout: TestTimeout.hang)
        run(center, on: thread) {
            for _ in 0..<kills {
                if case .connected(let server) = center.connectionState { ObservedProcess(server).end() }
                _ = eventually { if case .connected = center.connectionState { true } else { false } }
            }
        }
        let sent = Self.posts * Self.posters
        for seen in [near, here] {
            if kills == 0 {
                XCTAssertTrue(
                    eventually { seen.values.withLock { $0.received } + gaps.withLock { $0.count } >= sent },
                    "\(seen.values.withLock { $0.received }) \(gaps.withLock { $0 })")
                XCTAssertEqual(seen.values.withLock { $0.received } + gaps.withLock { $0.count }, sent)
            }
            XCTAssertTrue(seen.values.withLock { $0.isInOrder })
        }
        if kills == 0 { XCTAssertEqual(gaps.withLock { $0.interruptions }, 0) }
        withExtendedLifetime((events, tokens)) {}
    }

    func testAddingAndRemovingObserversAndSuspendingLoseNoNotification() throws {
        try stress(kills: 0)
    }

    func testKilledServersChangeNoOrderAndRepeatNoNotification() throws {
        try stress(kills: FaultRounds.kills)
    }
}
