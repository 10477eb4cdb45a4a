import DistributedNotifications
import Foundation
import Testing

struct DistributedErrorTests {
    @Test func theDescriptionSaysWhatFailedOnWhatWhyAndWhatToDo() {
        let error = DistributedError.nameNotUsable(name: "", problem: "is empty")
        #expect("\(error)" == "the name \"\" is empty. A name is 1 to 255 bytes of UTF-8 without NUL.")
        #expect(error.localizedDescription == "\(error)")
    }

    @Test func anErrorHasACodeAndTheValuesConcerned() {
        let error = DistributedError.notPosted(name: "n", problem: "no server answered", timeout: .seconds(2))
        #expect(error.code == .notPosted && error.code != .notAnswered)
        #expect(error.name == "n" && error.timeout == .seconds(2) && error.path == nil)
        #expect("\(error.code)" == "notPosted")
        #expect("\(error)" == "n was not posted within 2.0 seconds: no server answered.")
    }

    @Test func longNamesAreShortenedInTheDescriptionOnly() {
        let name = String(repeating: "n", count: 300)
        let error = DistributedError.nameNotUsable(name: name, problem: "has 300 bytes")
        #expect(error.name == name)
        #expect("\(error)".hasPrefix("the name \"\(name.prefix(59))…\" has 300 bytes."))
    }
}
