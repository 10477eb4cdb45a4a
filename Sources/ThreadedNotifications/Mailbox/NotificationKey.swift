internal import Foundation

/// A notification's name and object, to find the one that a later one takes the place of.
final class NotificationKey: Sendable {
    private let name: Notification.Name
    private let object: NotificationObject
    let hash: Int

    init(name: Notification.Name, object: NotificationObject) {
        self.name = name
        self.object = object
        hash = name.hashValue ^ (object.hash ?? 0)
    }

    /// Calls foreign code, if the object is a value.
    func isSame(as other: NotificationKey?) -> Bool {
        other.map { name == $0.name && object.isSame(as: $0.object) } ?? false
    }
}
