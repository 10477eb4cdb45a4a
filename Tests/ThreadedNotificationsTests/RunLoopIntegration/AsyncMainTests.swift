import ChildProcesses
import Glibc
import SharedTesting
import XCTest

/// Programs with an `async` main function that link `AsyncMain`. A program that hangs is killed and fails its test.
final class AsyncMainTests: XCTestCase {
    func testTheMainThreadIsServedWhileMainAwaits() throws {
        let child = try Shell.run("async-main-child served")
        let served = ["main actor", "main queue", "observer", "signal source", "timer"].map { "\($0) on \(main)" }
        let lines = child.output.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.dropLast().sorted(), served, child.errors)
        XCTAssertEqual(lines.last, "main ends on \(main)")
        XCTAssertEqual(child.end, .exit(0), child.errors)
    }

    func testTheProgramEndsByAnUnhandledSignalOrWithTheStatusOfExit() throws {
        for (line, end) in [("terminate", .signal(SIGTERM)), ("exit", .exit(7))] as [(String, ChildProcess.End)] {
            let child = try Shell.run("exec async-main-child \(line)")
            XCTAssertEqual(child.output, "", child.errors)
            XCTAssertEqual(child.end, end, child.errors)
        }
    }

    func testAnErrorThatMainThrowsIsPrintedAndCrashesTheProgramAsWithoutTheLibrary() throws {
        let child = try Shell.run("SWIFT_BACKTRACE=enable=no exec async-main-child error")
        XCTAssertTrue(child.errors.contains("Error raised at top level: async_main_child."), "\(child)")
        guard case .signal = child.end else { return XCTFail("\(child)") }
    }

    func testTheExampleReceives100000NotificationsFrom4ThreadsOnTheMainThread() throws {
        let child = try Shell.run("station")
        XCTAssertEqual(
            child.output,
            """
            the main queue is served on \(main)
            a timer fires on \(main)
            100000 notifications arrive on \(main)

            """, child.errors)
        XCTAssertEqual(child.end, .exit(0), child.errors)
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
}
