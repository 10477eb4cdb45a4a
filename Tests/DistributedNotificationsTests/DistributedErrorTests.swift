import DistributedNotifications
import Foundation
import ThreadedNotifications
import XCTest

final class DistributedErrorTests: XCTestCase {
    func testTheDescriptionSaysWhatFailedOnWhatWhyAndWhatToDo() {
        let error = DistributedError.nameNotUsable(name: "", problem: "is empty")
        XCTAssertEqual("\(error)", "the name \"\" is empty. A name is 1 to 255 bytes of UTF-8 without NUL.")
        XCTAssertEqual(error.localizedDescription, "\(error)")
    }

    func testAnErrorHasACodeAndTheValuesConcerned() {
        let error = DistributedError.notPosted(
            name: "n", at: SourceLocation("Demo/main.swift", 7), problem: "no server answered", timeout: .seconds(2))
        XCTAssertTrue(error.code == .notPosted && error.code != .notAnswered)
        XCTAssertTrue(error.notification == "n" && error.timeout == .seconds(2) && error.path == nil)
        XCTAssertEqual("\(error.code)", "notPosted")
        XCTAssertEqual(
            "\(error)", "n, posted at Demo/main.swift:7, was not posted within 2.0 seconds: no server answered.")
    }

    func testLongNamesAreShortenedInTheDescriptionOnly() {
        let name = String(repeating: "n", count: 300)
        let error = DistributedError.nameNotUsable(name: name, problem: "has 300 bytes")
        XCTAssertEqual(error.notification, name)
        XCTAssertTrue("\(error)".hasPrefix("the name \"\(name.prefix(59))…\" has 300 bytes."))
    }
}
