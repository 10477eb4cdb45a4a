import DeliveryRecording
import XCTest

@testable import Scenarios

final class PerformBlockScenarioTests: XCTestCase {
    func testEachExpectationCanFail() throws {
        let check = try ScenarioCheck(PerformBlockScenario())
        let second = "send Grace Hopper, Compilers"
        try check.fails("three were sent, each with its three arguments") {
            $0[try $0.index(of: "send Ada Lovelace, Engines")].message = "send Ada Byron, Engines"
        }
        try check.fails("sent on the network thread only") {
            $0[try $0.index(of: second)].thread = ScenarioCheck.anotherThread
        }
        try check.fails("main waits: the block's value is returned") {
            $0[try $0.index(of: "1 sent so far")].message = "0 sent so far"
        }
        try check.fails("on the network thread itself: performed before the call returns") {
            $0[try $0.index(of: "sent before the call returned")].sequence = try $0.sequence(after: second) - 2
        }
        try check.fails("after a delay: not before it has passed") {
            let called = $0[try $0.index(of: "to be sent in 20 ms")].monotonicNanoseconds
            $0[try XCTUnwrap($0.lastIndex { $0.stage == .deliver })].monotonicNanoseconds = called + 19_000_000
        }
    }
}
