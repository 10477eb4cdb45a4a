import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class SpinnerTests: XCTestCase {
    private let ping = Notification.Name("ping")
    private let pong = Notification.Name("pong")

    func testTwoThreadsThatAnswerEachOtherGetEveryAnswerWithAndWithoutSpinning() throws {
        for spins in [true, false] { try answers(spins: spins) }
    }

    private func answers(spins: Bool) throws {
        let center = ThreadedNotificationCenter()
        let (one, other) = (RunLoopThread(name: "one", spins: spins), RunLoopThread(name: "other", spins: spins))
        try one.start()
        try other.start()
        let count = TestRounds.rounds(300, stress: 3_000)
        let isDone = DispatchSemaphore(value: 0)
        let got = Locked(0)
        let pings = center.addObserver(forName: ping, on: other) { [pong] _ in center.post(name: pong) }
        let pongs = center.addObserver(forName: pong, on: one) { [ping] _ in
            let number = got.withLock { got in
                got += 1
                return got
            }
            if number < count { center.post(name: ping) } else { isDone.signal() }
        }
        center.post(name: ping)
        XCTAssertEqual(isDone.wait(timeout: .now() + TestTimeout.seconds), .success)
        XCTAssertEqual(pings.counters, DeliveryCounters(delivered: count))
        XCTAssertEqual(pongs.counters, DeliveryCounters(delivered: count))
        for thread in [one, other] { try thread.stopAndWait() }
    }

    func testTheRunLoopsOtherSourcesAreServedWhileTwoThreadsAnswerEachOtherWithoutEnd() throws {
        let center = ThreadedNotificationCenter()
        let (one, other) = (try RunLoopThread.started("one"), try RunLoopThread.started("other"))
        let goesOn = Locked(true)
        let isAnswered = DispatchSemaphore(value: 0)
        let pings = center.addObserver(forName: ping, on: other) { [pong] _ in center.post(name: pong) }
        let pongs = center.addObserver(forName: pong, on: one) { [ping] _ in
            isAnswered.signal()
            if goesOn.withLock({ $0 }) { center.post(name: ping) }
        }
        let receiver = Receiver()
        let port = SignalPort()
        port.setDelegate(receiver)

        try one.performAndWait(timeout: TestTimeout.hang) { RunLoop.current.add(port, forMode: .common) }
        center.post(name: ping)
        XCTAssertEqual(isAnswered.wait(timeout: .now() + TestTimeout.seconds), .success)
        for _ in 0..<20 {
            port.signal()
            XCTAssertEqual(receiver.handled.wait(timeout: .now() + TestTimeout.seconds), .success)
        }
        goesOn.withLock { $0 = false }
        port.invalidate()
        for thread in [one, other] { try thread.stopAndWait() }
        withExtendedLifetime((pings, pongs)) {}
    }

    private final class Receiver: NSObject, PortDelegate {
        let handled = DispatchSemaphore(value: 0)

        func handle(_ message: PortMessage) {
            handled.signal()
        }
    }

    func testAThreadThatMaySpinStopsAfterItHasDeliveredEarlierPosts() throws {
        for _ in 0..<50 {
            let center = ThreadedNotificationCenter()
            let worker = try RunLoopThread.started("worker")
            let token = center.addObserver(forName: ping, on: worker) { _ in }
            center.post(name: ping)
            try worker.stopAndWait()
            XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1))
        }
    }
}
