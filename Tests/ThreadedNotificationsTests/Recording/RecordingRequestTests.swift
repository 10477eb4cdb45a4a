import XCTest

@testable import ThreadedNotifications

/// The file that a process is asked to record to.
final class RecordingRequestTests: XCTestCase {
    private func path(_ variable: String?, isPrivileged: Bool = false, copiedFrom: String? = nil) -> String? {
        RecordingRequest.path(
            variable: variable, runsWithOthersRights: isPrivileged, copiedFrom: copiedFrom, process: 4711)
    }

    func testTheVariableNamesTheFileAndAnEmptyVariableNamesNone() {
        XCTAssertEqual(path("run.jsonl"), "run.jsonl")
        XCTAssertNil(path(""))
        XCTAssertNil(path(nil))
    }

    func testAProcessWithRightsThatItsUserDoesNotHaveIgnoresTheVariable() {
        XCTAssertNil(path("run.jsonl", isPrivileged: true))
    }

    func testAChildOfForkRecordsToAFileOfItsOwnIndependentOfTheVariable() {
        XCTAssertEqual(path("other", copiedFrom: "/tmp/run.jsonl"), "/tmp/run.jsonl.4711")
        XCTAssertEqual(path("other", isPrivileged: true, copiedFrom: "/tmp/run.jsonl"), "/tmp/run.jsonl.4711")
    }
}
