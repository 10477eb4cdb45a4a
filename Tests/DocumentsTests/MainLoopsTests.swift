import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// The examples whose main loop is not Foundation's.
final class MainLoopsTests: XCTestCase {
    func testEachReceivesAllNotificationsInOrderWhileItsOwnTimersAndIdleHandlersAreCalled() throws {
        let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let script = Repository.root.appending(path: "Scripts/main-loops.sh")
        let program = ChildProgram(
            path: "bash", arguments: [script.path, tests.deletingLastPathComponent().path], environment: [:])
        // It compiles three programs.
        let run = try program.run(input: [], timeout: TestTimeout.hang * 5)
        let skipped = run.output.split(separator: "\n").filter { $0.hasPrefix("skipped ") }
        let received = run.output.split(separator: "\n").filter { !$0.hasPrefix("skipped ") }
        XCTAssertEqual(run.end, .exit(skipped.isEmpty ? 0 : 77), "\(run)")
        XCTAssertEqual(received.first, "epoll-loop: 100000 notifications in order")
        XCTAssertEqual(received.count + skipped.count, 3, "\(run)")
        for line in received { XCTAssertTrue(line.hasSuffix("-loop: 100000 notifications in order"), "\(line)") }
        if !skipped.isEmpty { throw XCTSkip(skipped.joined(separator: "; ")) }
    }
}
