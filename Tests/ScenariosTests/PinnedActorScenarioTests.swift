import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class PinnedActorScenarioTests: ScenarioTestCase {
    private let scenario = PinnedActorScenario()

    // Each expectation is broken once, to show that it can fail.

    func testADeliveryOnAnotherThreadIsDetected() throws {
        try assert(scenario, fails: ["posted on main, handled on the actor's thread"]) {
            $0[try $0.indexOfDelivery()].thread = Self.anotherThread
        }
    }

    func testOvertakingIsDetected() throws {
        try assert(scenario, fails: ["handled in the order posted"]) { records in
            let indices = records.indices.filter { records[$0].stage == .deliver && records[$0].notification != nil }
            (records[indices[0]].post, records[indices[1]].post) = (records[indices[1]].post, records[indices[0]].post)
        }
    }

    func testAMethodThatRunsOnAnotherThreadIsDetected() throws {
        try assert(scenario, fails: ["an awaited method runs on that thread too"]) {
            $0[try $0.indexOfMessage("asked for the balance")].thread = Self.anotherThread
        }
    }

    func testAnAnswerThatComesTooEarlyIsDetected() throws {
        try assert(scenario, fails: ["the answer includes everything posted before"]) {
            $0[try $0.indexOfMessage("the balance is 75")].message = "the balance is 70"
        }
    }
}
