import XCTest

@testable import DeliveryDiagnostics

final class PerformBlockScenarioTests: ScenarioTestCase {
    private let scenario = PerformBlockScenario()

    // Each expectation is broken once, to see that it can fail.

    func testAnotherArgumentIsSeen() throws {
        try assert(scenario, fails: ["three were sent, each with its three arguments"]) {
            $0[try $0.place(of: "send Ada Lovelace, Engines")].message = "send Ada Byron, Engines"
        }
    }

    func testSendingOnAnotherThreadIsSeen() throws {
        try assert(scenario, fails: ["sent on the network thread only"]) {
            $0[try $0.place(of: "send Grace Hopper, Compilers")].thread = Self.anotherThread
        }
    }

    func testAnAnswerThatDoesNotComeBackIsSeen() throws {
        try assert(scenario, fails: ["waited for from main: the block's value came back"]) {
            $0[try $0.place(of: "1 sent so far")].message = "0 sent so far"
        }
    }

    func testABlockThatIsPerformedAfterTheCallReturnedIsSeen() throws {
        try assert(scenario, fails: ["from the network thread itself: performed before the call returned"]) {
            let sent = $0[try $0.place(of: "send Grace Hopper, Compilers")].sequence
            $0[try $0.place(of: "sent before the call returned")].sequence = sent - 1
        }
    }

    func testABlockThatIsPerformedBeforeItsDelayHasPassedIsSeen() throws {
        try assert(scenario, fails: ["after a delay: not before it had passed"]) {
            let called = $0[try $0.place(of: "to be sent in 20 ms")].monotonicNanoseconds
            let last = try XCTUnwrap($0.lastIndex { $0.stage == .deliver })
            $0[last].monotonicNanoseconds = called + 19_000_000
        }
    }
}
