import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import SharedTesting
import XCTest

@testable import Scenarios

/// Separate from the other scenarios' tests, because the thread sanitizer does not see Subprocess's lock
/// and reports false races.
final class ChildProgramTests: XCTestCase {
    func testAChildThatCannotStartHangsOrSpeaksNonsenseIsAnError() {
        func error(_ path: String, _ arguments: [String], timeout: Duration = TestTimeout.hang) -> ScenarioError? {
            var environment = ScenarioEnvironment(
                options: ScenarioOptions(capture: .weak), timeout: timeout,
                childProgram: ChildProgram(path: path, arguments: arguments))
            environment.recorder = DeliveryRecorder()
            do {
                try ObserverLifetimeScenario().perform(in: environment)
                return nil
            } catch {
                return error as? ScenarioError
            }
        }
        guard case .child = error("/nonexistent", []) else { return XCTFail("started what does not exist") }
        guard case .child(let problem) = error("/bin/sh", ["-c", "echo nonsense; : "]) else {
            return XCTFail("took nonsense for records")
        }
        XCTAssertTrue(problem.hasPrefix("its output is not a recording: its output:1: "), problem)
        XCTAssertEqual(
            error("/bin/sh", ["-c", "exec sleep 600"], timeout: .milliseconds(50)),
            .timedOut(waitingFor: "a second process", after: .milliseconds(50)))
    }
}
