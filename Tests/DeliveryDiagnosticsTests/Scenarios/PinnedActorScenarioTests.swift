import XCTest

@testable import DeliveryDiagnostics

final class PinnedActorScenarioTests: ScenarioTestCase {
    private let scenario = PinnedActorScenario()

    // Each expectation is broken once, to see that it can fail.

    func testADeliveryOnAnotherThreadIsSeen() throws {
        try assert(scenario, fails: ["posted on main, handled on the actor's thread"]) {
            $0[try $0.placeOfDelivery()].thread = Self.anotherThread
        }
    }

    func testOvertakingIsSeen() throws {
        try assert(scenario, fails: ["handled in the order posted"]) { records in
            let places = records.indices.filter { records[$0].stage == .deliver && records[$0].notification != nil }
            (records[places[0]].post, records[places[1]].post) = (records[places[1]].post, records[places[0]].post)
        }
    }

    func testAMethodThatRunsOnAnotherThreadIsSeen() throws {
        try assert(scenario, fails: ["its method awaited, and run on that thread too"]) {
            $0[try $0.place(of: "asked for the balance")].thread = Self.anotherThread
        }
    }

    func testAnAnswerThatComesTooEarlyIsSeen() throws {
        try assert(scenario, fails: ["the answer counts all that was posted before"]) {
            $0[try $0.place(of: "the balance is 75")].message = "the balance is 70"
        }
    }
}
