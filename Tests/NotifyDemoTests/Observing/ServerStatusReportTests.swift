import DistributedNotifications
import Foundation
import XCTest

@testable import notify_demo

final class ServerStatusReportTests: XCTestCase {
    /// Decoded from JSON, because only a server can create a status.
    func testTheServerAndItsClientsHaveARowOfNumbersThatAddUpAndEachObserverHasOne() throws {
        func numbers(_ counts: [Int]) -> String {
            let names = [
                "posted", "matched", "delivered", "heldEntries", "dropped", "discarded", "coalesced", "suppressed",
                "removed",
            ]
            return zip(names, counts).map { #""\#($0)": \#($1)"# }.joined(separator: ", ") + #", "heldBytes": 7"#
        }
        let status = try JSONDecoder().decode(
            ServerStatus.self,
            from: Data(
                #"""
                {"process": 4711, "directory": "/run/\n", "nanoseconds": 12500000000,
                 \#(numbers([12, 57, 34, 3, 5, 6, 4, 3, 2])), "clients": [
                 {"process": 50, "name": "make\u001b", "isSuspended": false, \#(numbers([3, 0, 0, 0, 0, 0, 0, 0, 0])),
                  "waitingBytes": 0, "observers": []},
                 {"process": 51, "name": "observe", "isSuspended": true, \#(numbers([0, 9, 1, 2, 1, 1, 1, 1, 2])),
                  "waitingBytes": 9, "observers": [
                    {"name": "done", "object": "Kitchen", "behavior": "hold"}, {"behavior": "deliverImmediately"}]}]}
                """#.utf8))
        XCTAssertEqual(
            status.report(width: 80).joined(separator: "\n"),
            #"""
            server 4711, running for 12.5 s, at /run/\u000a

            process                posted  matched  delivered  held  dropped  not held
            all                        12       57         34     3        5        15
            50 make\u001b               3        –          –     –        –         –
            51 observe, suspended       –        9          1     2        1         5

            observed by  behavior            notification
                     51  hold                done of "Kitchen"
                     51  deliverImmediately  any name of any object
            """#)
    }
}
