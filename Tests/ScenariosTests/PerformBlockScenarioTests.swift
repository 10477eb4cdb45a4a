import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class PerformBlockScenarioTests: ScenarioTestCase {
    private let scenario = PerformBlockScenario()

    // Each expectation is broken once, to show that it can fail.

    func testAnotherArgumentIsDetected() throws {
        try assert(scenario, fails: ["three were sent, each with its three arguments"]) {
            $0[try $0.indexOfMessage("send Ada Lovelace, Engines")].message = "send Ada Byron, Engines"
        }
    }

    func testSendingOnAnotherThreadIsDetected() throws {
        try assert(scenario, fails: ["sent on the network thread only"]) {
            $0[try $0.indexOfMessage("send Grace Hopper, Compilers")].thread = Self.anotherThread
        }
    }

    func testAnAnswerThatDoesNotComeBackIsDetected() throws {
        try assert(scenario, fails: ["main waits: the block's value is returned"]) {
            $0[try $0.indexOfMessage("1 sent so far")].message = "0 sent so far"
        }
    }

    func testABlockThatIsPerformedAfterTheCallReturnedIsDetected() throws {
        try assert(scenario, fails: ["on the network thread itself: performed before the call returns"]) {
            let sent = $0[try $0.indexOfMessage("send Grace Hopper, Compilers")].sequence
            $0[try $0.indexOfMessage("sent before the call returned")].sequence = sent - 1
        }
    }

    func testABlockThatIsPerformedBeforeItsDelayHasPassedIsDetected() throws {
        try assert(scenario, fails: ["after a delay: not before it has passed"]) {
            let called = $0[try $0.indexOfMessage("to be sent in 20 ms")].monotonicNanoseconds
            let last = try XCTUnwrap($0.lastIndex { $0.stage == .deliver })
            $0[last].monotonicNanoseconds = called + 19_000_000
        }
    }
}
