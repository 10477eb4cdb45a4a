import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The document's technique: a test for each of its claims.
final class RedirectingObserverTests: XCTestCase {
    private let posted = Notification.Name("RedirectingObserverTests")
    private let log = Locked<[Int]>([])

    private var numbers: [Int] { log.withLock { $0 } }

    /// Calls a block with an observer of Foundation's default center that logs what it handles.
    private func observing(
        port: SignalPort = SignalPort(), isSetUp: Bool = true,
        handle: @escaping @Sendable (Int) -> Void = { _ in }, _ body: (RedirectingObserver) -> Void
    ) {
        let observer = RedirectingObserver(notificationPort: port) { [log] notification in
            XCTAssertEqual(ThreadIdentity.current.number, 1)
            let number = notification.object as? Int ?? 0
            log.withLock { $0.append(number) }
            handle(number)
        }
        if isSetUp { observer.setUpThreadingSupport() }
        let token = NotificationCenter.default.addObserver(forName: posted, object: nil, queue: nil) {
            observer.processNotification($0)
        }
        body(observer)
        NotificationCenter.default.removeObserver(token)
    }

    private func post(_ number: Int) { NotificationCenter.default.post(name: posted, object: number) }

    /// Returns when all are posted. The main run loop does not run in between.
    private func postInBackground(_ numbers: ClosedRange<Int>) {
        Thread.posting(1) { [posted] in
            for number in numbers { NotificationCenter.default.post(name: posted, object: number) }
        }.wait()
    }

    func testAPostOnTheTargetThreadIsHandledBeforeItReturnsAndOvertakesThoseOfOtherThreads() {
        observing { _ in
            postInBackground(1...2)
            XCTAssertEqual(numbers, [])
            post(3)
            XCTAssertEqual(numbers, [3])
            RunLoop.runCurrentOnce()
            XCTAssertEqual(numbers, [3, 1, 2])
        }
    }

    func testNotificationsBeforeSetUpAreStoredAndHandled() {
        observing(isSetUp: false) { observer in
            post(1)
            XCTAssertEqual(numbers, [])
            observer.setUpThreadingSupport()
            RunLoop.runCurrentOnce()
            XCTAssertEqual(numbers, [1])
        }
    }

    func testOneSignalProcessesAllNotifications() {
        let port = SilentPort()
        observing(port: port) { _ in
            postInBackground(1...100)
            RunLoop.runCurrentOnce()
            XCTAssertEqual(numbers, [])
            port.signal()
            RunLoop.runCurrentOnce()
            XCTAssertEqual(numbers, Array(1...100))
        }
    }

    func testAHandlerMayPostAndRunTheRunLoop() {
        observing(
            handle: { [posted] number in
                if number == 1 { NotificationCenter.default.post(name: posted, object: 6) }
                RunLoop.runCurrentOnce()
            },
            { _ in
                postInBackground(1...5)
                RunLoop.runCurrentOnce()
                XCTAssertEqual(numbers, [1, 6, 2, 3, 4, 5])
            })
    }

    func testAReleasedObserverIsDeallocatedAndItsPortInvalidated() {
        let port = SignalPort()
        var observer: RedirectingObserver? = RedirectingObserver(notificationPort: port) { _ in }
        observer?.setUpThreadingSupport()
        weak let observed = observer
        let invalidated = expectation(forNotification: Port.didBecomeInvalidNotification, object: port)
        observer = nil
        XCTAssertNil(observed)
        wait(for: [invalidated], timeout: TestTimeout.seconds)
        XCTAssertFalse(port.isValid)
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
