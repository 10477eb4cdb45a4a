internal import Foundation

/// A notification's name and object, to find the one that a later one takes the place of. It does not retain the object.
final class NotificationKey: Sendable {
    private let name: Notification.Name
    /// Nil: it has none.
    private let object: ObjectFilter?
    let hash: Int

    /// - Returns: nil for an object that nothing can be compared with.
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
