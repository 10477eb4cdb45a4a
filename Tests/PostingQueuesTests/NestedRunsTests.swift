import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

final class NestedRunsTests: XCTestCase {
    private var runs = NestedRuns<String>()

    func testARunInWhichNothingWasPostedIsNotSignalled() {
        runs.begin(in: "default", isSignalled: false)
        let signal1 = runs.takeSignal()
        XCTAssertFalse(signal1)
    }

    func testARunInWhichSomethingWasPostedIsSignalledOnce() {
        runs.begin(in: "default", isSignalled: false)
        runs.notePost()
        runs.notePost()
        let signal2 = runs.takeSignal()
        XCTAssertTrue(signal2)
        let signal3 = runs.takeSignal()
        XCTAssertFalse(signal3)
    }

    func testANestedRunIsNotSignalledForAPostInTheRunAroundIt() {
        for isSignalled in [false, true] {
            runs.begin(in: "default", isSignalled: false)
            runs.notePost()
            if isSignalled { _ = runs.takeSignal() }
            runs.begin(in: "nested", isSignalled: isSignalled)
            let signal4 = runs.takeSignal()
            XCTAssertFalse(signal4)
            let end = runs.end(in: "nested")
            XCTAssertTrue(end.wasObserved && end.mayBeNested)
            let signal5 = runs.takeSignal()
            XCTAssertTrue(signal5)
        }
    }

    func testAPostInANestedRunDoesNotMakeTheRunAroundItReturn() {
        runs.begin(in: "default", isSignalled: false)
        runs.begin(in: "nested", isSignalled: false)
        runs.notePost()
        _ = runs.end(in: "nested")
        let signal6 = runs.takeSignal()
        XCTAssertFalse(signal6)
        let end = runs.end(in: "default")
        XCTAssertTrue(end.wasObserved && !end.mayBeNested)
    }

    func testTheEndOfARunWhoseBeginningWasNotObservedChangesNothing() {
        runs.begin(in: "default", isSignalled: false)
        runs.notePost()
        let end = runs.end(in: "other")
        XCTAssertTrue(!end.wasObserved && end.mayBeNested)
        let signal7 = runs.takeSignal()
        XCTAssertTrue(signal7)
    }
}
