import Foundation
import SharedTesting
import XCTest

@testable import Scenarios

final class GateTests: XCTestCase {
    func testAWaitForAClosedGateEndsAtTheTimeoutAndTheErrorNamesTheGate() {
        let gate = Gate("the gate")
        XCTAssertThrowsError(try gate.wait(timeout: .zero)) {
            XCTAssertEqual($0 as? ScenarioError, .timedOut(waitingFor: "the gate", after: .zero))
        }
        XCTAssertFalse(gate.isOpen)
    }

    func testAnOpenGateLetsAllWaitsReturnAndOpeningItAgainHasNoEffect() throws {
        let gate = Gate("the gate")
        let returned = (0..<8).map { Gate("waiter \($0)") }
        for waiter in returned {
            Thread.detachNewThread { if (try? gate.wait(timeout: TestTimeout.hang)) != nil { waiter.open() } }
        }
        gate.open()
        gate.open()
        for waiter in returned { try waiter.wait(timeout: TestTimeout.hang) }
        try gate.wait(timeout: .zero)
        XCTAssertTrue(gate.isOpen)
    }
}
