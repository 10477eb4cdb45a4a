import ChildProcesses
import Glibc
import SharedTesting
import XCTest

/// Programs with an `async` main function that link `AsyncMain`. A program that hangs is killed and fails its test.
final class AsyncMainTests: XCTestCase {
    func testTimersOfTheMainRunLoopFire() throws {
        try assertEnds("async-main-child timer", "timer on \(main)\nmain ends on \(main)\n")
    }

    func testTheMainActorIsOnTheMainThread() throws {
        try assertEnds("async-main-child main-actor", "main actor on \(main)\nmain ends on \(main)\n")
    }

    func testAnObserverOnMainGetsWhatAnotherThreadPosts() throws {
        try assertEnds("async-main-child observer", "observer on \(main)\nmain ends on \(main)\n")
    }

    func testTheMainQueueIsServedOnTheMainThread() throws {
        try assertEnds("async-main-child main-queue", "main queue on \(main)\nmain ends on \(main)\n")
    }

    func testTheMainThreadIsServedAfterOtherCodeHasStoppedItsRunLoop() throws {
        try assertEnds("async-main-child stopped-run-loop", "main queue on \(main)\nmain ends on \(main)\n")
    }

    func testASignalSourceOfTheMainQueueIsServed() throws {
        try assertEnds("async-main-child signal-source", "signal source on \(main)\nmain ends on \(main)\n")
    }

    func testASignalThatIsNotHandledEndsTheProgram() throws {
        try assertEnds("exec async-main-child terminate", "", .signal(SIGTERM))
    }

    func testTheProgramEndsWithTheStatusOfExit() throws {
        try assertEnds("async-main-child exit", "", .exit(7))
    }

    func testAnErrorThatMainThrowsIsPrintedAndCrashesTheProgramAsWithoutTheLibrary() throws {
        let child = try Shell.run("SWIFT_BACKTRACE=enable=no exec async-main-child error")
        XCTAssertTrue(child.errors.contains("Error raised at top level: async_main_child."), "\(child)")
        guard case .signal = child.end else { return XCTFail("\(child)") }
    }

    func testTheExampleReceives100000NotificationsFrom4ThreadsOnTheMainThread() throws {
        try assertEnds(
            "station",
            """
            the main queue is served on \(main)
            a timer fires on \(main)
            100000 notifications arrive on \(main)

            """)
    }

    func testTestsOfSwiftTestingReceiveOnTheMainThreadAndEnd() throws {
        let tests = try Shell.run("async-main-child --testing-library swift-testing 2>&1")
        XCTAssertTrue(tests.output.contains("Test run with 3 tests in 1 suite passed"), tests.output)
        XCTAssertEqual(tests.end, .exit(0))
    }

    func testTheTestsThemselvesDoNotLinkTheLibraryBecauseSomeNeedAMainThreadThatEnds() {
        let hook = dlsym(dlopen(nil, RTLD_NOW), "swift_task_asyncMainDrainQueue_hook")
        XCTAssertNotNil(hook)
        XCTAssertNil(hook?.load(as: UnsafeRawPointer?.self))
    }

    private let main = "{number = 1, name = main}"

    private func assertEnds(
        _ line: String, _ output: String, _ end: ChildProcess.End = .exit(0), file: StaticString = #filePath,
        at position: UInt = #line
    ) throws {
        let child = try Shell.run(line)
        XCTAssertEqual(child.output, output, child.errors, file: file, line: position)
        XCTAssertEqual(child.end, end, child.errors, file: file, line: position)
    }
}
