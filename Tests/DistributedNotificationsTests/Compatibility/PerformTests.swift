import NotificationCompatibility
import SharedTesting
import XCTest

final class PerformTests: XCTestCase {
    /// Any object performs, and a test case is no `NSObject` here.
    private let object = NSObject()

    func testBlocksForAThreadThatIsNotStartedWaitAndArePerformedInOrderBeforeLaterOnes() {
        nonisolated(unsafe) let thread = NetworkThread()
        let performed = Awaited([Int]())
        func perform(_ numbers: Range<Int>) {
            for number in numbers {
                XCTAssertTrue(
                    object.perform(on: thread, waitUntilDone: false) { performed.withLock { $0.append(number) } })
            }
        }
        perform(0..<50)
        thread.start()
        // Some of these are performed before the thread is reached, and some after.
        perform(50..<200)
        XCTAssertTrue(performed.wait { !$0.isEmpty })
        perform(200..<250)
        XCTAssertTrue(object.perform(on: thread, waitUntilDone: true) { XCTAssertTrue(Thread.current == thread) })
        XCTAssertEqual(performed.withLock(\.self), Array(0..<250))
        thread.stop()
    }

    func testOnTheCallingThreadABlockIsPerformedAtOnceOnlyIfTheCallerWaits() {
        let log = Log()
        let last = expectation(description: "performed")
        object.perform(on: .main, waitUntilDone: false) { log.write("later") }
        object.performOnMainThread(waitUntilDone: false) { log.write("later, too") }
        XCTAssertEqual(log.lines, [])
        object.performOnMainThread(waitUntilDone: false) { last.fulfill() }
        wait(for: [last], timeout: TestTimeout.seconds)
        object.perform(on: Thread.current, waitUntilDone: true) { log.write("at once") }
        object.performOnMainThread(waitUntilDone: true) { log.write("at once, too") }
        XCTAssertEqual(log.lines, ["later", "later, too", "at once", "at once, too"])
    }

    func testAWarningToAPipeWithoutAReaderDoesNotEndTheProcess() {
        let before = signal(SIGPIPE, SIG_DFL)
        var pipes: [Int32] = [0, 0]
        XCTAssertEqual(pipe(&pipes), 0)
        close(pipes[0])
        let standardError = dup(STDERR_FILENO)
        dup2(pipes[1], STDERR_FILENO)
        // A thread that is not reached.
        XCTAssertFalse(object.perform(on: Thread {}, waitUntilDone: true, timeout: .zero) { XCTFail("performed") })
        dup2(standardError, STDERR_FILENO)
        for descriptor in [standardError, pipes[1]] { close(descriptor) }
        // One that waits would end the process now, at the latest.
        signal(SIGPIPE, before)
    }

    func testAThreadThatHasFinishedIsReleasedWithItsBlocksAndRefused() {
        for (thread, isReached) in [(Thread {}, false), (NetworkThread(), true)] {
            let (released, finished) = (expectation(description: "released"), expectation(description: "finished"))
            do {
                let block = ReleaseRecorder { released.fulfill() }
                object.perform(on: thread, waitUntilDone: false) { withExtendedLifetime(block) {} }
            }
            nonisolated(unsafe) let ending = thread
            Thread.detachNewThread {
                ending.start()
                (ending as? NetworkThread)?.stop()
                while !ending.isFinished { sched_yield() }
                finished.fulfill()
            }
            wait(for: [finished], timeout: TestTimeout.seconds)
            // The next call for any thread discards the blocks for threads that were not reached.
            object.perform(on: Thread {}, waitUntilDone: false) {}
            wait(for: [released], timeout: TestTimeout.seconds)
            for waits in [false, true] {
                XCTAssertFalse(
                    object.perform(on: thread, waitUntilDone: waits) { XCTFail("performed") }, "\(isReached)")
            }
        }
    }

    func testAThreadIsReleasedAfterItHasEndedAndIsNotMistakenForALaterOne() {
        for _ in 0..<50 {
            weak var released: Thread?
            do {
                nonisolated(unsafe) let thread = NetworkThread()
                released = thread
                thread.start()
                XCTAssertTrue(
                    object.perform(on: thread, waitUntilDone: true) { XCTAssertTrue(Thread.current == thread) })
                thread.stop()
            }
            XCTAssertTrue(eventually { released == nil })
        }
    }

    func testADelayedBlockIsPerformedOnTheCallingThreadUnlessItIsCancelled() {
        nonisolated(unsafe) let thread = NetworkThread()
        let log = Log()
        thread.start()
        let last = expectation(description: "performed")
        object.perform(on: thread, waitUntilDone: false) {
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
        nonisolated(unsafe) let thread = NetworkThread()
        thread.start()
        XCTAssertTrue(
            object.perform(on: thread, waitUntilDone: true) {
                XCTAssertFalse(thread.performOnMainThread(waitUntilDone: true) { XCTFail("it would wait for ever") })
            })
        thread.stop()
    }
}
