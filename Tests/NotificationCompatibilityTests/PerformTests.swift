import DistributedTesting
import NotificationCompatibility
import SharedTesting
import XCTest

final class PerformTests: XCTestCase {
    func testBlocksForAThreadThatIsNotStartedWaitAndArePerformedInOrderBeforeLaterOnes() {
        let (thread, log) = (NetworkThread(), Log())
        for number in 0..<50 { XCTAssertTrue(perform(on: thread, waitUntilDone: false) { log.write("\(number)") }) }
        thread.start()
        for number in 50..<100 { XCTAssertTrue(perform(on: thread, waitUntilDone: false) { log.write("\(number)") }) }
        XCTAssertTrue(perform(on: thread, waitUntilDone: true) { log.write("\(Thread.current == thread)") })
        XCTAssertEqual(log.lines, (0..<100).map { "\($0)" } + ["true"])
        thread.stop()
    }

    func testOnTheCallingThreadABlockIsPerformedAtOnceOnlyIfTheCallerWaits() {
        let log = Log()
        let last = expectation(description: "performed")
        perform(on: .main, waitUntilDone: false) { log.write("later") }
        performOnMainThread(waitUntilDone: false) { log.write("later, too") }
        XCTAssertEqual(log.lines, [])
        performOnMainThread(waitUntilDone: false) { last.fulfill() }
        wait(for: [last], timeout: TestTimeout.seconds)
        perform(on: Thread.current, waitUntilDone: true) { log.write("at once") }
        performOnMainThread(waitUntilDone: true) { log.write("at once, too") }
        XCTAssertEqual(log.lines, ["later", "later, too", "at once", "at once, too"])
    }

    func testAWaitForAThreadThatIsNotReachedEndsAfterTheTimeout() {
        let thread = Thread {}
        XCTAssertFalse(perform(on: thread, waitUntilDone: true, timeout: .zero) { XCTFail("performed") })
    }

    func testBlocksForAThreadThatHasFinishedAreDiscarded() {
        let (thread, gate) = (Thread {}, ReleaseProbe())
        let released = gate.released
        perform(on: thread, waitUntilDone: false) { gate.use() }
        thread.start()
        XCTAssertTrue(eventually { thread.isFinished })
        // The next call for any thread discards them.
        perform(on: Thread {}, waitUntilDone: false) {}
        _ = consume gate
        XCTAssertTrue(eventually { released.withLock(\.self) })
    }

    func testAThreadThatHasEndedIsNotMistakenForALaterOne() {
        for _ in 0..<50 {
            let thread = NetworkThread()
            thread.start()
            XCTAssertTrue(perform(on: thread, waitUntilDone: true) { XCTAssertTrue(Thread.current == thread) })
            thread.stop()
            XCTAssertTrue(eventually { thread.isFinished })
        }
    }

    func testARunLoopOnWhichNothingWasPerformedReturnsWhenItsPortIsInvalidated() {
        let ended = expectation(description: "the run loop has returned")
        let (port, isAdded) = (NSMachPort(), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            RunLoop.current.add(port, forMode: .default)
            isAdded.signal()
            RunLoop.current.run()
            ended.fulfill()
        }
        XCTAssertEqual(isAdded.wait(timeout: .now() + TestTimeout.seconds), .success)
        port.invalidate()
        wait(for: [ended], timeout: TestTimeout.seconds)
    }

    func testADelayedBlockIsPerformedOnTheCallingThreadUnlessItIsCancelled() {
        let (thread, log) = (NetworkThread(), Log())
        thread.start()
        let last = expectation(description: "performed")
        perform(on: thread, waitUntilDone: false) {
            let cancelled = thread.perform(afterDelay: 0) { XCTFail("it was cancelled") }
            XCTAssertEqual(cancelled?.cancel(), true)
            thread.perform(afterDelay: .infinity) { XCTFail("too early") }
            thread.perform(afterDelay: -1) { log.write("\(Thread.current == thread)") }
            thread.perform(afterDelay: .nan) { last.fulfill() }
        }
        wait(for: [last], timeout: TestTimeout.seconds)
        XCTAssertEqual(log.lines, ["true"])
        thread.stop()
    }

    func testTwoThreadsThatWaitForEachOtherBothContinue() {
        let (thread, outcome) = (NetworkThread(), Awaited(Bool?.none))
        thread.start()
        XCTAssertTrue(
            perform(on: thread, waitUntilDone: true) {
                let isPerformed = thread.performOnMainThread(waitUntilDone: true) { XCTFail("it would wait for ever") }
                outcome.withLock { $0 = isPerformed }
            })
        XCTAssertEqual(outcome.withLock(\.self), false)
        thread.stop()
    }
}

/// Tells when the last closure that uses it was released.
private final class ReleaseProbe: Sendable {
    let released = Awaited(false)

    func use() {}

    deinit {
        released.withLock { $0 = true }
    }
}
