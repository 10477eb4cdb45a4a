/// The object that an observer asks for. An object is not retained. After it is deallocated nothing matches, not even
/// another object at the same address.
enum ObjectFilter: Sendable {
    case any
    case object(WeakReference<AnyObject>)
    case value(NotificationObject)

    init(_ object: NotificationObject) {
        switch object {
        case .none: self = .any
        case .object(let object): self = .object(WeakReference(object))
        case .value: self = .value(object)
        case .incomparable:
            preconditionFailure(
                "ThreadedNotificationCenter: an observer asks for an object that is neither of a class nor Hashable, so "
                    + "no notification could match. Pass an object, a Hashable value or nil.")
        }
    }

    /// The object; none if it was deallocated.
    var object: NotificationObject {
        switch self {
        case .any: .none
        case .object(let wanted): wanted.object.map { .object($0) } ?? .none
        case .value(let wanted): wanted
        }
    }

    var isAny: Bool { if case .any = self { true } else { false } }

    /// True if an observer with this filter was added for `object`, or matches nothing because its object was
    /// deallocated.
    func asksFor(_ object: NotificationObject) -> Bool {
        if case .object(let wanted) = self, wanted.object == nil { return true }
        return !isAny && matches(object)
    }

    func matches(_ object: NotificationObject) -> Bool {
        switch self {
        case .any: true
        case .object(let wanted): if case .object(let posted) = object { wanted.object === posted } else { false }
        case .value(let wanted): wanted.isSame(as: object)
        }
    }
}
