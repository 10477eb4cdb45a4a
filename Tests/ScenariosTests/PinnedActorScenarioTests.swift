import DeliveryRecording
import XCTest

@testable import Scenarios

final class PinnedActorScenarioTests: XCTestCase {
    func testEachExpectationCanFail() throws {
        let check = try ScenarioCheck(PinnedActorScenario())
        try check.fails("posted on main, handled on the actor's thread") {
            $0[try $0.indexOfDelivery()].thread = ScenarioCheck.anotherThread
        }
        try check.fails("handled in the order posted") { records in
            let posts = records.filter { $0.stage == .post }.map(\.post)
            records.exchange(posts[0], posts[1]) { $0.stage == .deliver && $0.notification != nil }
        }
        try check.fails("an awaited method runs on that thread too") {
            $0[try $0.index(of: "asked for the balance")].thread = ScenarioCheck.anotherThread
        }
        try check.fails("the answer includes everything posted before") {
            $0[try $0.index(of: "the balance is 75")].message = "the balance is 70"
        }
    }
}
