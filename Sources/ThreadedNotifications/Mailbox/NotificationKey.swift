internal import Foundation

/// The name and object of a notification, to find a waiting notification that a later one replaces. The object is not
/// retained.
final class NotificationKey: Sendable {
    private let name: Notification.Name
    /// Nil: the notification has no object.
    private let object: ObjectFilter?
    let hash: Int

    /// - Returns: nil for an object that cannot be compared.
    init?(name: Notification.Name, object: NotificationObject) {
        self.name = name
        switch object {
        case .incomparable: return nil
        case .none: self.object = nil
        case .object, .value: self.object = ObjectFilter(object)
        }
        hash = name.hashValue ^ (object.hash ?? 0)
    }

    /// Calls foreign code, if the object is a value.
    func isSame(asName name: Notification.Name, object: NotificationObject) -> Bool {
        guard self.name == name else { return false }
        if let wanted = self.object { return wanted.matches(object) }
        return if case .none = object { true } else { false }
    }
}
