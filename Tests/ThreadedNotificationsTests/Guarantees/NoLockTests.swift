import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in NoLockTests")

/// Guarantee 8: no lock is held while foreign code runs.
final class NoLockTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAHandlerMayPostAddRemovePerformAndWait() throws {
        let center = ThreadedNotificationCenter()
        let (worker, other) = (try RunLoopThread.started("worker"), try RunLoopThread.started("other"))
        let inner = Notification.Name("inner")
        let log = Locked<[String]>([])
        let innerToken = center.addObserver(forName: inner, on: other) { _ in log.withLock { $0.append("inner") } }
        let token = center.addObserver(forName: posted, on: worker) { [timeout] _ in
            let added = center.addObserver(forName: inner, on: .postingThread) { _ in
                log.withLock { $0.append("added") }
            }
            do {
                try center.postAndWait(Notification(name: inner), timeout: timeout)
                let value = try other.performAndWait(timeout: timeout) { 42 }
                log.withLock { $0.append("\(value)") }
                try worker.perform { log.withLock { $0.append("performed") } }
            } catch {
                log.withLock { $0.append("\(error)") }
            }
            added.cancel()
        }
        // The tracer is foreign code too, and may post.
        let traced = Notification.Name("traced")
        let tracedToken = center.addObserver(forName: traced, on: .postingThread) { _ in }
        DeliveryEvent.tracer = { event in if event.name == inner { center.post(name: traced) } }
        center.post(name: posted)
        try worker.performAndWait(timeout: timeout) {}
        DeliveryEvent.tracer = nil
        try worker.stopAndWait()
        try other.stopAndWait()
        XCTAssertEqual(log.withLock { $0.sorted() }, ["42", "added", "inner", "performed"])
        XCTAssertGreaterThan(tracedToken.counters.delivered, 0)
        XCTAssertEqual(token.counters.delivered, 1)
        XCTAssertEqual(innerToken.counters.delivered, 1)
    }

    func testADeinitThatADrainCausesMayPostAndRunTheRunLoop() {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let tokens = ["first", "second"].map { name in
            center.addObserver(forName: posted, on: .main) { _ in log.withLock { $0.append(name) } }
        }
        let short = Locked<ThreadedNotificationCenter?>(ThreadedNotificationCenter())
        let object = NSObject()
        for number in 0..<3 {
            let held = ReleaseRecorder {
                log.withLock { $0.append("released \(number)") }
                Thread.posting(1) { center.post(name: posted) }.wait()
                RunLoop.runCurrentOnce()
                center.post(name: posted)
            }
            let own = short.withLock { $0 }
            own?.addObserver(object, forName: posted, on: .current) { _, _ in withExtendedLifetime(held) {} }
        }
        // The posting thread's block is released late, so it must not retain the center. Its observers are released
        // with their last notification.
        Thread.posting(1) {
            let center = short.withLock { $0.take() }
            for _ in 0..<200 { center?.post(name: posted) }
        }.wait()
        XCTAssertEqual(log.withLock { $0 }, [])
        for _ in 0..<2 { RunLoop.runCurrentOnce() }
        XCTAssertEqual(log.withLock { $0.count { $0.hasPrefix("released") } }, 3)
        XCTAssertEqual(tokens.map(\.counters), Array(repeating: .init(delivered: 6), count: 2))
        withExtendedLifetime(object) {}
    }

    func testADeinitThatRemovingTheTracerCausesMayPost() {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: posted, on: .postingThread) { _ in }
        do {
            let held = ReleaseRecorder { center.post(name: posted) }
            DeliveryEvent.tracer = { _ in withExtendedLifetime(held) {} }
        }
        DeliveryEvent.tracer = nil
        XCTAssertEqual(token.counters.delivered, 1)
    }
}
