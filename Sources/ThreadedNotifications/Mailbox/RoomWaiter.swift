/// A posting thread that waits for room in a bounded mailbox. No policy waits.
final class RoomWaiter: Sendable {
    func wake() {}
}
