import ChildProcesses
import SharedTesting
import XCTest

/// In the copy of a process that forks, every thread but the one that forked has ended (guarantee 10).
final class ForkTests: XCTestCase {
    private func assertPrints(
        _ program: String, _ expected: String, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        let result = try Shell.run("test-child delivery \(program)")
        XCTAssertEqual(result.end, .exit(0), result.errors, file: file, line: line)
        XCTAssertEqual(result.output, expected + "\n", result.errors, file: file, line: line)
    }

    func testInTheCopyPostsAreTargetGoneAndWaitsAreToldAtOnce() throws {
        try assertPrints(
            "fork",
            """
            cancel: true
            post: 2: delivered 1, target gone 1
            enqueue: target gone
            postAndWait: threadStopped
            perform: threadStopped
            performAndWait: threadStopped
            waitUntilFinished: ()
            end: worker ended
            delayed: [true, true]
            copy: 0
            parent: 2: delivered 2
            """)
    }

    func testInTheCopyAWaitThatWasUnderWayIsTold() throws {
        try assertPrints("fork-in-wait", "threadEnded\ncopy: 0\n2: delivered 2")
    }

    func testARunLoopGoesOnInBothProcesses() throws {
        for _ in 0..<TestRounds.rounds(3, stress: 50) {
            try assertPrints("fork-on-worker", "1: target gone 1\ncopy is over\ncopy: 0")
            try assertPrints("fork-on-main", "copy is over\ncopy: 0")
        }
    }

    func testNoLockOfAnotherThreadStaysLockedInTheCopy() throws {
        try assertPrints("fork-while-posting", "failures: 0")
    }
}
