internal import Foundation

/// A notification's object as it is compared: objects by identity, hashable values by equality. Other values equal
/// nothing.
//
// Safety: of an object only the identity is used. Of a value only its `Hashable` conformance is used, on the threads
// that post or enqueue, as the documentation of `addObserver` and `PostingQueue` says.
package enum NotificationObject: @unchecked Sendable {
    case none
    case object(AnyObject)
    case value(AnyHashable)
    case incomparable

    package init(_ object: Any?) {
        guard let object else {
            self = .none
            return
        }
        // On Linux `as AnyObject` boxes any value, so the type decides.
        if type(of: object) is AnyClass {
            self = .object(object as AnyObject)
        } else if let value = object as? AnyHashable {
            self = .value(value)
        } else {
            self = .incomparable
        }
    }

    /// Equal objects have equal hashes. Nil if no observer can ask for this object.
    package var hash: Int? {
        switch self {
        case .none, .incomparable: nil
        case .object(let object): ObjectIdentifier(object).hashValue
        case .value(let value): value.hashValue
        }
    }

    /// The object in events.
    package var sender: DeliveryEvent.Sender? {
        switch self {
        case .none, .incomparable: nil
        case .object(let object):
            DeliveryEvent.Sender(
                identifier: UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())),
                type: TypeNames.name(of: type(of: object)))
        case .value(let value):
            DeliveryEvent.Sender(
                identifier: UInt64(bitPattern: Int64(value.hashValue)), type: TypeNames.name(of: type(of: value.base)))
        }
    }

    package func isSame(as other: NotificationObject) -> Bool {
        switch (self, other) {
        case (.none, .none): true
        case (.object(let one), .object(let other)): one === other
        case (.value(let one), .value(let other)): one == other
        default: false
        }
    }
}

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

/// The names of types, cached, because looking one up costs more than writing a record.
enum TypeNames {
    static let names = Locked<[ObjectIdentifier: String]>([:])

    static func name(of type: any Any.Type) -> String {
        let identifier = ObjectIdentifier(type)
        if let known = names.withLock({ $0[identifier] }) { return known }
        let name = String(describing: type)
        names.withLock { $0[identifier] = name }
        return name
    }
}
