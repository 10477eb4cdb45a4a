import DistributedNotifications
import Testing

struct DistributedErrorTests {
    @Test func anErrorSaysWhatToDo() {
        let error = DistributedError.nameNotUsable(name: "", problem: "is empty")
        #expect("\(error)" == "the name \"\" is empty. A name is 1 to 255 bytes of UTF-8 without NUL.")
    }
}
