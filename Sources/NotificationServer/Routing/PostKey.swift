internal import DistributedNotifications

/// A post's name and object.
struct PostKey: Hashable, Sendable {
    var name: ByteString
    /// Nil: it has none.
    var object: ByteString?
}
