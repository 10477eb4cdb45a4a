import ChildProcesses
import SharedTesting
import XCTest

/// In the copy of a process that forks, every thread but the one that forked has ended (guarantee 10).
final class ForkTests: XCTestCase {
    func testInTheCopyPostsAreTargetGoneAndWaitsAreToldAtOnce() throws {
        let result = try Shell.run("test-child delivery fork")
        XCTAssertEqual(result.end, .exit(0), result.errors)
        XCTAssertEqual(
            result.output,
            """
            post: 2: delivered 1, target gone 1
            enqueue: target gone
            postAndWait: threadStopped
            perform: threadStopped
            performAndWait: threadStopped
            waitUntilFinished: ()
            copy: 0
            post on a new thread: 2: target gone 2
            parent: 2: delivered 2

            """)
    }
}
