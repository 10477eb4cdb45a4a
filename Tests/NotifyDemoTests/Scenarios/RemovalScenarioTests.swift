import DeliveryRecording
import XCTest

@testable import Scenarios

final class RemovalScenarioTests: XCTestCase {
    func testEachExpectationCanFail() throws {
        let check = try ScenarioCheck(RemovalScenario())
        for (way, claim) in [
            ("cancel", "cancel returns while the handler runs"),
            ("cancelAndWait inside", "cancelAndWait in the handler returns, and it continues"),
        ] {
            try check.fails(claim) { $0[try $0.index(of: "\(way): returned")].sequence = $0.count }
        }
        try check.fails("cancelAndWait, called while it runs, returns after it") {
            $0[try $0.index(of: "cancelAndWait: returned")].sequence =
                try $0.sequence(after: "cancelAndWait: handler ends") - 1
        }
        let (cancelled, one) = ("waiting deliveries are cancelled", "each post has one outcome")
        let counters = "the library's counters agree with the records"
        try check.fails("no handler begins after the removal", cancelled, counters) {
            $0[try $0.index(.cancel)].stage = .deliver
        }
        try check.fails(cancelled, one, counters) { $0.remove(at: try $0.index(.cancel)) }
        try check.fails(one) { $0.append($0[try $0.index(.cancel)]) }
        // A delivery of a post after the removal.
        try check.fails("no handler begins after the removal", cancelled, one, counters) { records in
            var record = records[try records.indexOfDelivery()]
            record.post = records.filter { $0.stage == .post }[3].post
            record.sequence = records.count
            records.append(record)
        }
        try check.failsIfMiscounted()
    }
}
