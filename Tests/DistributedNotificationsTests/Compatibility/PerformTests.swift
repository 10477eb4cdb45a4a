import NotificationCompatibility
import SharedTesting
import XCTest

final class PerformTests: XCTestCase {
    /// Any object performs, and a test case is no `NSObject` here.
    private let object = NSObject()

    func testBlocksForAThreadThatIsNotStartedWaitAndArePerformedInOrderBeforeLaterOnes() {
        nonisolated(unsafe) let thread = NetworkThread()
        let performed = Awaited([Int]())
        var count = 0
        func performNext() {
            let number = count
            let isAccepted = object.perform(on: thread, waitUntilDone: false) {
                performed.withLock { $0.append(number) }
            }
            XCTAssertTrue(isAccepted)
            count += 1
        }
        for _ in 0..<50 { performNext() }
        thread.start()
        // Some of these are performed before the thread is reached, and some after.
        XCTAssertTrue(
            eventually {
                performNext()
                return !performed.withLock(\.isEmpty)
            })
        for _ in 0..<50 { performNext() }
        XCTAssertTrue(object.perform(on: thread, waitUntilDone: true) { XCTAssertTrue(Thread.current == thread) })
        XCTAssertEqual(performed.withLock(\.self), Array(0..<count))
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

    func testAWaitForAThreadThatIsNotReachedEndsAfterTheTimeout() {
        let thread = Thread {}
        XCTAssertFalse(object.perform(on: thread, waitUntilDone: true, timeout: .zero) { XCTFail("performed") })
    }

    func testAWaitForAThreadThatFinishesBeforeItIsReachedFailsAtOnce() {
        let mayEnd = DispatchSemaphore(value: 0)
        let isAdded = DispatchSemaphore(value: 0)
        let withPort = Thread {
            RunLoop.current.add(NSMachPort(), forMode: .default)
            isAdded.signal()
            mayEnd.wait()
        }
        let neverReached = Thread { mayEnd.wait() }
        for thread in [neverReached, withPort] {
            nonisolated(unsafe) let thread = thread
            let hasFailed = expectation(description: "the wait has failed")
            if thread === withPort {
                thread.start()
                XCTAssertEqual(isAdded.wait(timeout: .now() + TestTimeout.seconds), .success)
            }
            let caller = Awaited<ThreadIdentity?>(nil)
            Thread.detachNewThread {
                caller.withLock { $0 = .current }
                XCTAssertFalse(
                    NSObject().perform(on: thread, waitUntilDone: true, timeout: .seconds(3600)) {
                        XCTFail("performed")
                    })
                hasFailed.fulfill()
            }
            XCTAssertTrue(eventually { caller.withLock(\.self).map(Self.isAsleep) == true })
            if thread !== withPort { thread.start() }
            mayEnd.signal()
            wait(for: [hasFailed], timeout: TestTimeout.seconds)
        }
    }

    private static func isAsleep(_ thread: ThreadIdentity) -> Bool {
        let status = try? String(contentsOfFile: "/proc/self/task/\(thread.kernelID)/stat", encoding: .utf8)
        return status?.split(separator: ")").last?.hasPrefix(" S") == true
    }

    func testAWarningToAPipeWithoutAReaderDoesNotEndTheProcess() {
        let before = signal(SIGPIPE, SIG_DFL)
        var pipes: [Int32] = [0, 0]
        XCTAssertEqual(pipe(&pipes), 0)
        close(pipes[0])
        let standardError = dup(STDERR_FILENO)
        dup2(pipes[1], STDERR_FILENO)
        XCTAssertFalse(object.perform(on: Thread {}, waitUntilDone: true, timeout: .zero) {})
        dup2(standardError, STDERR_FILENO)
        close(standardError)
        close(pipes[1])
        // One that waits would end the process now, at the latest.
        signal(SIGPIPE, before)
        var pending = sigset_t()
        sigpending(&pending)
        XCTAssertEqual(sigismember(&pending, SIGPIPE), 0)
    }

    func testBlocksForAThreadThatHasFinishedAreDiscarded() {
        let (thread, released) = (Thread {}, Awaited(false))
        do {
            let probe = ReleaseProbe(released)
            object.perform(on: thread, waitUntilDone: false) { probe.use() }
        }
        thread.start()
        XCTAssertTrue(eventually { thread.isFinished })
        // The next call for any thread discards them.
        object.perform(on: Thread {}, waitUntilDone: false) {}
        XCTAssertTrue(released.withLock(\.self))
    }

    func testAThreadThatHasFinishedIsRefusedAtOnce() {
        let thread = NetworkThread()
        thread.start()
        XCTAssertTrue(object.perform(on: thread, waitUntilDone: true) {})
        thread.stop()
        XCTAssertTrue(eventually { thread.isFinished && !object.perform(on: thread, waitUntilDone: false) {} })
        XCTAssertFalse(object.perform(on: thread, waitUntilDone: true) { XCTFail("performed") })
    }

    func testAThreadIsReleasedAfterItHasEnded() {
        for performs in [false, true] {
            weak var released: Thread?
            do {
                let (thread, isAdded) = (PortThread(), DispatchSemaphore(value: 0))
                released = thread
                thread.didAddPort = { isAdded.signal() }
                thread.start()
                XCTAssertEqual(isAdded.wait(timeout: .now() + TestTimeout.seconds), .success)
                if performs { XCTAssertTrue(object.perform(on: thread, waitUntilDone: true) {}) }
                thread.end()
            }
            XCTAssertTrue(eventually { released == nil })
        }
    }

    func testAThreadThatHasEndedIsNotMistakenForALaterOne() {
        for _ in 0..<50 {
            nonisolated(unsafe) let thread = NetworkThread()
            thread.start()
            XCTAssertTrue(object.perform(on: thread, waitUntilDone: true) { XCTAssertTrue(Thread.current == thread) })
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
        let outcome = Awaited(Bool?.none)
        thread.start()
        XCTAssertTrue(
            object.perform(on: thread, waitUntilDone: true) {
                let isPerformed = thread.performOnMainThread(waitUntilDone: true) { XCTFail("it would wait for ever") }
                outcome.withLock { $0 = isPerformed }
            })
        XCTAssertEqual(outcome.withLock(\.self), false)
        thread.stop()
    }
}

/// A thread that ends with a valid port.
private final class PortThread: Thread {
    private let port = NSMachPort()
    private let isOver = Awaited(false)
    var didAddPort: (() -> Void)?

    override func main() {
        RunLoop.current.add(port, forMode: .default)
        didAddPort?()
        while !isOver.withLock(\.self) { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
    }

    func end() {
        isOver.withLock { $0 = true }
        port.send(before: Date(), components: nil, from: nil, reserved: 0)
    }
}

/// Tells when it was released.
private final class ReleaseProbe: Sendable {
    private let released: Awaited<Bool>

    init(_ released: Awaited<Bool>) {
        self.released = released
    }

    func use() {}

    deinit {
        released.withLock { $0 = true }
    }
}
