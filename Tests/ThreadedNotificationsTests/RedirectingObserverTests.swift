import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The document's technique: a test for each of its claims.
final class RedirectingObserverTests: XCTestCase {
    private let posted = Notification.Name("RedirectingObserverTests")
    private let timeout = TestTimeout.hang

    func testANotificationPostedOnTheTargetThreadIsHandledBeforePostReturns() {
        let log = HandlerLog()
        let observer = RedirectingObserver { log.add($0) }
        observer.setUpThreadingSupport()
        let token = register(observer)
        defer { NotificationCenter.default.removeObserver(token) }
        NotificationCenter.default.post(name: posted, object: 1)
        XCTAssertEqual(log.numbers, [1])
        XCTAssertEqual(log.threads, [1])
    }

    func testANotificationPostedOnAnotherThreadIsHandledOnTheTargetThread() {
        let log = HandlerLog()
        let observer = RedirectingObserver { log.add($0) }
        observer.setUpThreadingSupport()
        let token = register(observer)
        defer { NotificationCenter.default.removeObserver(token) }
        postInBackground(1...3)
        XCTAssertEqual(log.numbers, [])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.numbers, [1, 2, 3])
        XCTAssertEqual(log.threads, [1])
    }

    func testAPostOnTheTargetThreadOvertakesWaitingNotifications() {
        let log = HandlerLog()
        let observer = RedirectingObserver { log.add($0) }
        observer.setUpThreadingSupport()
        let token = register(observer)
        defer { NotificationCenter.default.removeObserver(token) }
        postInBackground(1...2)
        NotificationCenter.default.post(name: posted, object: 3)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.numbers, [3, 1, 2])
    }

    func testNotificationsBeforeSetUpAreStoredAndHandled() {
        let log = HandlerLog()
        let observer = RedirectingObserver { log.add($0) }
        let token = register(observer)
        defer { NotificationCenter.default.removeObserver(token) }
        NotificationCenter.default.post(name: posted, object: 1)
        XCTAssertEqual(log.numbers, [])
        observer.setUpThreadingSupport()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.numbers, [1])
    }

    func testOneSignalProcessesAllNotifications() {
        let port = SilentPort()
        let log = HandlerLog()
        let observer = RedirectingObserver(notificationPort: port) { log.add($0) }
        observer.setUpThreadingSupport()
        let token = register(observer)
        defer { NotificationCenter.default.removeObserver(token) }
        postInBackground(1...100)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.numbers, [])
        port.signal()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.numbers, Array(1...100))
    }

    func testAHandlerMayPostBecauseTheLockIsNotHeld() {
        let log = HandlerLog()
        let observer = RedirectingObserver { [posted] notification in
            log.add(notification)
            guard let number = notification.object as? Int, number < 3 else { return }
            NotificationCenter.default.post(name: posted, object: number + 1)
        }
        observer.setUpThreadingSupport()
        let token = register(observer)
        defer { NotificationCenter.default.removeObserver(token) }
        postInBackground(1...1)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.numbers, [1, 2, 3])
    }

    func testNotificationsAreHandledInOrderIfAHandlerRunsTheRunLoop() {
        let log = HandlerLog()
        let observer = RedirectingObserver { notification in
            log.add(notification)
            RunLoop.runCurrentOnce()
        }
        observer.setUpThreadingSupport()
        let token = register(observer)
        defer { NotificationCenter.default.removeObserver(token) }
        postInBackground(1...5)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.numbers, [1, 2, 3, 4, 5])
    }

    func testAReleasedObserverIsDeallocatedAndItsPortInvalidated() {
        var observer: RedirectingObserver? = RedirectingObserver { _ in }
        let port = SignalPort()
        var other: RedirectingObserver? = RedirectingObserver(notificationPort: port) { _ in }
        other?.setUpThreadingSupport()
        observer?.setUpThreadingSupport()
        weak let observed = observer
        let invalidated = expectation(forNotification: Port.didBecomeInvalidNotification, object: port)
        observer = nil
        other = nil
        XCTAssertNil(observed)
        wait(for: [invalidated], timeout: TestTimeout.seconds)
        XCTAssertFalse(port.isValid)
    }

    private func register(_ observer: RedirectingObserver) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(forName: posted, object: nil, queue: nil) {
            observer.processNotification($0)
        }
    }

    /// Returns when all are posted. The main run loop does not run in between.
    private func postInBackground(_ numbers: ClosedRange<Int>) {
        let done = DispatchSemaphore(value: 0)
        Thread { [posted] in
            for number in numbers { NotificationCenter.default.post(name: posted, object: number) }
            done.signal()
        }.start()
        done.wait()
    }
}

/// The notifications that handlers received, and the threads.
final class HandlerLog: Sendable {
    private let state = Locked<(numbers: [Int], threads: Set<Int>)>(([], []))

    var numbers: [Int] { state.withLock { $0.numbers } }
    var threads: Set<Int> { state.withLock { $0.threads } }

    func add(_ notification: Notification) {
        let number = notification.object as? Int ?? 0
        let thread = ThreadIdentity.current.number
        state.withLock {
            $0.numbers.append(number)
            $0.threads.insert(thread)
        }
    }
}

/// A port that loses every signal of `send`.
///
/// Safety: the class adds no state to its superclass, which is Sendable.
private final class SilentPort: SignalPort, @unchecked Sendable {
    override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?, reserved headerSpaceReserved: Int
    ) -> Bool {
        true
    }
}
