import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The behavior of Foundation's run loops and threads on Linux, and its missing parts.
final class PlatformTests: XCTestCase {
    // MARK: Run loops

    func testABlockDoesNotWakeARunLoopThatSleeps() {
        let isPerformed = DispatchSemaphore(value: 0)
        let isSo = whileMainThreadSleeps {
            RunLoop.main.perform { isPerformed.signal() }
            return !isPerformed.isSignalled(within: patience)
        }
        assertStill("`RunLoop.perform(_:)` does not wake a run loop that sleeps.", isSo)
    }

    func testATimerWithAnIntervalFiresAtOnce() {
        let hasFired = Locked(false)
        let timer = Timer(timeInterval: 3600, repeats: false) { _ in hasFired.withLock { $0 = true } }
        RunLoop.main.add(timer, forMode: .default)
        for _ in 0..<10 { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005)) }
        timer.invalidate()
        assertStill("`Timer(timeInterval:repeats:block:)` fires at once.", hasFired.withLock { $0 })
    }

    func testTheMainActorOfAnAsyncMainIsNotOnTheMainThread() throws {
        try assertStillAlone("The main actor of a program with an `async` main is not on the main thread.") {
            Task { @MainActor in
                // The main function begins on the main thread; what follows a suspension shows the difference.
                await Task.detached {}.value
                _exit(Thread.isMainThread ? 1 : 0)
            }
            runAsyncMain()
        }
    }

    func testTimersOfTheMainRunLoopOfAnAsyncMainDoNotFire() throws {
        try assertStillAlone("Timers of `RunLoop.main` do not fire in a program with an `async` main.") {
            let hasFired = DispatchSemaphore(value: 0)
            RunLoop.addDueTimer { hasFired.signal() }
            Thread.detachNewThread { _exit(hasFired.isSignalled(within: patience) ? 1 : 0) }
            runAsyncMain()
        }
    }

    // MARK: Threads

    func testANameThatIsSetBeforeTheStartIsLostAndALongOneIsIgnored() {
        let (long, names, hasEnded) = ("a worker with a long name", Locked([String?]()), DispatchSemaphore(value: 0))
        let thread = Thread {
            names.withLock { $0 = [Thread.current.name] }
            Thread.current.name = long
            names.withLock { $0.append(Thread.current.name) }
            hasEnded.signal()
        }
        thread.name = "worker"
        thread.start()
        XCTAssertTrue(hasEnded.isSignalled())
        assertStill("A name that is set before the thread starts is lost.", names.withLock { $0[0] } != "worker")
        assertStill("A name of more than 15 bytes is ignored.", names.withLock { $0[1] } != long)
    }

    func testTheEndOfAThreadIsNotPosted() {
        let isPosted = Locked(false)
        let token = NotificationCenter.default.addObserver(forName: .NSThreadWillExit, object: nil, queue: nil) { _ in
            isPosted.withLock { $0 = true }
        }
        let thread = Thread {}
        thread.start()
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while !thread.isFinished, Date() < deadline { sched_yield() }
        NotificationCenter.default.removeObserver(token)
        assertStill("`NSThreadWillExit` is not posted.", thread.isFinished && !isPosted.withLock { $0 })
    }

    // MARK: Missing parts

    func testTypesAreMissing() {
        for name in [
            "18NSMachPortDelegate_p", "13NSMessagePortC", "29DistributedNotificationCenterC", "8SelectorV",
        ] {
            assertStill(
                "There is no usable `NSMachPort` or `MessagePort`, no `DistributedNotificationCenter`, and no selector.",
                _typeByName("10Foundation\(name)") == nil && _typeByName("10ObjectiveC\(name)") == nil)
        }
        XCTAssertTrue(_typeByName("10Foundation10SocketPortC") == SocketPort.self)
    }
}

/// Runs the main thread's run loop, and `body` on another thread when the main thread sleeps in it.
func whileMainThreadSleeps(_ body: @escaping @Sendable () -> Bool) -> Bool {
    let (isRunning, result) = (DispatchSemaphore(value: 0), Locked<Bool?>(nil))
    let waking = PortReceiver { _ in }
    RunLoop.main.perform { isRunning.signal() }
    Thread.detachNewThread { [port = waking.port] in
        var isAsleep = isRunning.isSignalled()
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        repeat {
            let file = "/proc/self/task/\(getpid())/stat"
            // The state follows the thread's name, which is in parentheses.
            let state = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: ")").last
            isAsleep = state?.hasPrefix(" S ") == true
        } while !isAsleep && Date() < deadline
        let isSo = isAsleep && body()
        result.withLock { $0 = isSo }
        port.signal()
    }
    return RunLoop.runCurrent { result.withLock { $0 } != nil } && result.withLock { $0 } == true
}

/// The runtime function that the compiler calls after it has made the task of an `async` main function.
@_silgen_name("swift_task_asyncMainDrainQueue")
private func runAsyncMain() -> Never
