import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The behavior of Foundation's notification center on Linux.
final class CenterTests: XCTestCase {
    private let center = NotificationCenter()

    /// Returns what removes the observer.
    @discardableResult
    private func observe(
        _ object: Any? = nil, queue: OperationQueue? = nil, _ handler: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        // Safety: the center accepts its token on any thread.
        nonisolated(unsafe) let token = center.addObserver(forName: .test, object: object, queue: queue) { _ in
            handler()
        }
        return { [center] in center.removeObserver(token) }
    }

    private func post(_ object: Any? = nil) { center.post(name: .test, object: object) }

    /// Adds an observer, and returns the number of its calls.
    private func observeCounting(_ object: Any? = nil) -> () -> Int {
        let calls = Locked(0)
        observe(object) { calls.withLock { $0 += 1 } }
        return { calls.withLock { $0 } }
    }

    func testObserversAreCalledInARandomOrder() {
        let called = Locked([Int]())
        for number in 1...20 { observe { called.withLock { $0.append(number) } } }
        post()
        XCTAssertEqual(called.withLock { $0.sorted() }, Array(1...20))
        assertStill("Observers are called in a random order.", called.withLock { $0 } != Array(1...20))
    }

    func testRemovingATokenTwiceRemovesAnotherObserver() {
        let remove = observe {}
        remove()
        let calls = observeCounting()
        remove()
        post()
        assertStill("Removing a token again removes an observer that was added since.", calls() == 0)
    }

    func testAnObserverThatIsRemovedDuringAPostIsCalled() {
        let (removals, calls) = (Locked<[@Sendable () -> Void]>([]), Locked(0))
        for other in [1, 0] {
            let remove = observe {
                calls.withLock { $0 += 1 }
                removals.withLock { $0[other] }()
            }
            removals.withLock { $0.append(remove) }
        }
        post()
        assertStill("An observer that is removed during a post is still called.", calls.withLock { $0 } == 2)
    }

    func testAnObserverOfAValueIsNotCalled() {
        let calls = [observeCounting(["the", "sender"].joined()), observeCounting(1_000_000)]
        post(["the", "sender"].joined())
        post(1_000_000)
        assertStill(
            "An observer of a sender that is a value is not called for an equal one.", calls.allSatisfy { $0() == 0 })
    }

    func testAnObserverOfAFreedObjectIsCalledForAnother() {
        let calls = observeCounting(NSObject())
        // One after the other, so that the allocator places one at the address of the freed one.
        for _ in 1...100 { post(NSObject()) }
        assertStill("An observer of an object that was freed is called for another at its address.", calls() > 0)
    }

    func testAPostWaitsForTheQueue() {
        let (queue, hasPosted, isOver) = (OperationQueue(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        observe(queue: queue) {}
        queue.maxConcurrentOperationCount = 1
        queue.addOperation { XCTAssertTrue(isOver.isSignalled()) }
        let posting = Thread.posting(1) { [center] in
            center.post(name: .test, object: nil)
            hasPosted.signal()
        }
        assertStill("A post waits for the queue's other work.", !hasPosted.isSignalled(within: patience))
        isOver.signal()
        posting.wait()
    }

    func testTheMainThreadCannotWaitForAPostToAnObserverOnIt() {
        let (hasPosted, isHandled) = (DispatchSemaphore(value: 0), Locked(false))
        observe(queue: .main) { isHandled.withLock { $0 = true } }
        let posting = Thread.posting(1) { [center] in
            center.post(name: .test, object: nil)
            hasPosted.signal()
        }
        assertStill(
            "A post to an observer on the main queue never returns while the main thread waits for its thread.",
            !hasPosted.isSignalled(within: patience))
        XCTAssertTrue(RunLoop.runCurrent { isHandled.withLock { $0 } })
        posting.wait()
    }

    func testAnObserverDoesNotRetainItsQueue() {
        let isHandled = Locked(false)
        observe(queue: OperationQueue()) { isHandled.withLock { $0 = true } }
        post()
        assertStill("An observer is not called when nothing else retains its queue.", !isHandled.withLock { $0 })
    }

    func testMessagesAreHandledInAnotherOrder() {
        let (runs, count) = (500, 2000)
        let isReordered = (1...runs).contains { _ in
            let (handled, isOver) = (Locked([Int]()), DispatchSemaphore(value: 0))
            let token = center.addObserver(of: nil as Sender?, for: Number.self) { (message: Number) async in
                let isLast = handled.withLock { handled in
                    handled.append(message.number)
                    return handled.count == count
                }
                if isLast { isOver.signal() }
            }
            defer { center.removeObserver(token) }
            for number in 0..<count { center.post(Number(number: number)) }
            XCTAssertTrue(isOver.isSignalled())
            return handled.withLock { $0 } != Array(0..<count)
        }
        assertStill("Messages of one thread are handled in another order, now and then.", isReordered)
    }

    func testASequenceKeeps10MessagesAndLosesTheOthers() {
        let (messages, center) = (center.messages(of: nil as Sender?, for: Number.self), center)
        let (numbers, isOver) = (Locked([Int]()), DispatchSemaphore(value: 0))
        Task.detached {
            var iterator = messages.makeAsyncIterator()
            for number in 1...51 { center.post(Number(number: number)) }
            for index in 1...11 {
                if index == 11 { center.post(Number(number: 52)) }
                if let message = await iterator.next(isolation: nil) { numbers.withLock { $0.append(message.number) } }
            }
            isOver.signal()
        }
        assertStill(
            "A sequence of messages loses all but 10 that wait, without a report.",
            isOver.isSignalled() && numbers.withLock { $0.count == 11 && $0.last == 52 })
    }

    func testASequenceWithoutABufferEndsTheProgram() throws {
        try assertStillEnds("`messages(of:for:bufferSize:)` with a buffer of 0 ends the program.") {
            let iterator = center.messages(of: nil as Sender?, for: Number.self, bufferSize: 0).makeAsyncIterator()
            center.post(Number(number: 1))
            withExtendedLifetime(iterator) {}
        }
    }

    func testReadingInACancelledTaskWaitsForEver() {
        let (messages, isOver) = (center.messages(of: nil as Sender?, for: Number.self), DispatchSemaphore(value: 0))
        Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = messages.makeAsyncIterator()
            while await iterator.next(isolation: nil) != nil {}
            isOver.signal()
        }
        assertStill(
            "Reading messages in a task that is already cancelled never ends.", !isOver.isSignalled(within: patience))
    }

    func testAMessageToACenterWithAnObserverOfAnyNameEndsTheProgram() throws {
        try assertStillEnds("A message that is posted to a center with an observer of any name ends the program.") {
            _ = center.addObserver(forName: nil, object: nil, queue: nil) { _ in }
            center.post(Number(number: 1))
        }
    }
}

private final class Sender: Sendable {}

private struct Number: NotificationCenter.AsyncMessage {
    typealias Subject = Sender
    static var name: Notification.Name { .test }

    var number: Int

    static func makeMessage(_ notification: Notification) -> Number? { nil }
    static func makeNotification(_ message: Number) -> Notification { Notification(name: name) }
}
