import Foundation
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

final class DistributedErrorTests: XCTestCase {
    func testTheDescriptionSaysWhatFailedOnWhatWhyAndWhatToDo() {
        let name = String(repeating: "n", count: 300)
        for (error, text) in [
            (.nameNotUsable(name: "", problem: "is empty"), "the name \"\" is empty. A name is 1 to 255 bytes"),
            (.nameNotUsable(name: name, problem: "is long"), "the name \"\(name.prefix(59))…\" is long."),
            (
                .notPosted(
                    name: "n", at: SourceLocation("Demo/main.swift", 7), problem: "why", timeout: .seconds(2)),
                "n, posted at Demo/main.swift:7, was not posted within 2.0 seconds: why."
            ),
        ] as [(DistributedError, String)] {
            XCTAssertTrue("\(error)".hasPrefix(text), "\(error)")
            XCTAssertEqual(error.localizedDescription, "\(error)")
        }
        XCTAssertTrue(DistributedError.closed.code == .closed && "\(DistributedError.closed.code)" == "closed")
    }
}
