@testable import DistributedNotifications
@testable import NotificationServer

/// A post to hold: a number to know it by, and a letter for name and object.
struct TestPost: HeldPost, Hashable {
    var number: Int
    var key: Character
    var byteCount = 1
}
