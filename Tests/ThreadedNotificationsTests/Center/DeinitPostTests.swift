import ChildProcesses
import SharedTesting
import XCTest

/// A `deinit` posts its object. What is kept has no object, in every run.
final class DeinitPostTests: XCTestCase {
    func testWhatTheDeinitsObjectOutlivesIsDeliveredWithTheObjectAndTheRestWithoutItAndWithAWarning() throws {
        for _ in 0..<TestRounds.rounds(3, stress: 50) {
            let result = try Shell.run("test-child delivery deinit")
            XCTAssertEqual(result.end, .exit(0), result.errors)
            let lines = result.output.split(separator: "\n")
            XCTAssertEqual(
                lines.dropLast(2).joined(separator: "\n"),
                """
                elsewhere without object
                bounded without object
                bounded without object
                bounded without object
                waited for without object
                1: delivered 1
                message without object
                enqueued without object
                enqueued without object
                keeping with object
                late without object
                ordered with object
                later without object
                nested true
                ordered without object
                later without object
                """)
            XCTAssertEqual(lines.suffix(2).sorted(), ["captured without object", "redirected without object"])
            let warnings = result.errors.split(separator: "\n")
            XCTAssertEqual(warnings.count, 1, result.errors)
            XCTAssertTrue(result.errors.contains("Gone, posted at test_child/DeinitPosts.swift:"), result.errors)
            XCTAssertTrue(result.errors.contains("because the deinit of that Ending posts it"), result.errors)
        }
        XCTAssertEqual(try Shell.run("THREADED_NOTIFICATIONS_WARNINGS=0 test-child delivery deinit").errors, "")
    }
}
