import ChildProcesses
import SharedTesting
import XCTest

/// A `deinit` posts its object. What is kept has no object, in every run.
final class DeinitPostTests: XCTestCase {
    private func assertPrints(
        _ program: String, _ expected: String, warns: Bool = true, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        for _ in 0..<TestRounds.rounds(5, stress: 50) {
            let result = try Shell.run("test-child delivery \(program)")
            XCTAssertEqual(result.end, .exit(0), result.errors, file: file, line: line)
            XCTAssertEqual(result.output, expected + "\n", file: file, line: line)
            let warnings = result.errors.components(separatedBy: "\n").filter { !$0.isEmpty }
            XCTAssertEqual(warnings.count, warns ? 1 : 0, result.errors, file: file, line: line)
        }
    }

    func testAnotherThreadGetsItWithoutTheObjectAndAWarningNamesThePost() throws {
        try assertPrints(
            "deinit-elsewhere", "worker without object\nworker without object\n2: delivered 2")
        let errors = try Shell.run("test-child delivery deinit-elsewhere").errors
        XCTAssertTrue(
            errors.contains("Gone, posted at test_child/DeinitPosts.swift:")
                && errors.contains("because the deinit of that Ending posts it"), errors)
        XCTAssertEqual(
            try Shell.run("THREADED_NOTIFICATIONS_WARNINGS=0 test-child delivery deinit-elsewhere").errors, "")
    }

    func testTheLatestNotificationIsRetainedWithoutTheObject() throws {
        try assertPrints("deinit-latest", "here with object\nworker without object\n1: delivered 1")
    }

    func testObserversWithAnOverflowPolicyGetItWithoutTheObject() throws {
        let result = try Shell.run("test-child delivery deinit-bounded")
        XCTAssertEqual(result.end, .exit(0), result.errors)
        XCTAssertEqual(result.output.components(separatedBy: "without object").count, 5, result.output)
    }

    func testAPostThatWaitsDeliversItWithoutTheObject() throws {
        try assertPrints("deinit-wait", "worker without object\n1: delivered 1")
    }

    func testItsOwnThreadGetsTheObjectBeforePostReturnsAndNotLater() throws {
        try assertPrints(
            "deinit-here",
            """
            ordered with object
            ordered with object
            later without object
            nested true
            ordered without object
            ordered without object
            later without object
            [2, 2, 2]
            """)
    }

    func testTheSubjectOfAMessageIsLost() throws {
        try assertPrints("deinit-message", "worker without object\n1: delivered 1")
    }

    func testAPostingQueuePostsItWithoutTheObject() throws {
        try assertPrints("deinit-enqueue", "main without object\nmain without object\n2: delivered 2")
    }

    func testANotificationOfAFoundationCenterIsDeliveredWithoutTheObject() throws {
        let result = try Shell.run("test-child delivery deinit-foundation")
        XCTAssertEqual(result.end, .exit(0), result.errors)
        XCTAssertTrue(result.output.contains("worker without object\n"), result.output)
        XCTAssertTrue(result.output.contains("redirected without\n"), result.output)
    }
}
