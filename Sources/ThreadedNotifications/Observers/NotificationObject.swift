internal import Foundation

/// A notification's object, as it is compared: objects by identity, hashable values by equality, and what is neither by
/// nothing.
//
// Safety: of an object nothing is used but its identity. Of a value nothing is used but its `Hashable` conformance; an observer's,
// or that of a waiting notification that keeps the latest or waits in a posting queue, is then compared on the threads that post or
// enqueue, as the documentation of `addObserver` and `PostingQueue` says.
enum NotificationObject: @unchecked Sendable {
    case none
    case object(AnyObject)
    case value(AnyHashable)
    case incomparable

    init(_ object: Any?) {
        guard let object else {
            self = .none
            return
        }
        // On Linux `as AnyObject` boxes any value, so it is the type that is asked.
        if type(of: object) is AnyClass {
            self = .object(object as AnyObject)
        } else if let value = object as? AnyHashable {
            self = .value(value)
        } else {
            self = .incomparable
        }
    }

    /// Equal objects have equal hashes; nil for what nobody can ask for.
    var hash: Int? {
        switch self {
        case .none, .incomparable: nil
        case .object(let object): ObjectIdentifier(object).hashValue
        case .value(let value): value.hashValue
        }
    }

    /// As it is traced.
    var sender: DeliveryEvent.Sender? {
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

    func isSame(as other: NotificationObject) -> Bool {
        switch (self, other) {
        case (.none, .none): true
        case (.object(let one), .object(let other)): one === other
        case (.value(let one), .value(let other)): one == other
        default: false
        }
    }
}

/// Which object an observer asks for. An object is not retained; once it is gone, nothing matches, also not what stands
/// at its address later.
enum ObjectFilter: Sendable {
    case any
    case object(WeakObject)
    case value(NotificationObject)

    init(_ object: NotificationObject) {
        switch object {
        case .none: self = .any
        case .object(let object): self = .object(WeakObject(object))
        case .value: self = .value(object)
        case .incomparable:
            preconditionFailure(
                "ThreadedNotificationCenter: an observer asks for an object that is neither of a class nor Hashable, so no "
                    + "notification could match. Pass an object, a Hashable value or nil.")
        }
    }

    var isAny: Bool { if case .any = self { true } else { false } }

    func matches(_ object: NotificationObject) -> Bool {
        switch self {
        case .any: true
        case .object(let wanted): if case .object(let posted) = object { wanted.object === posted } else { false }
        case .value(let wanted): wanted.isSame(as: object)
        }
    }
}

/// An object that is not retained.
//
// Safety: a weak reference is read and written atomically.
struct WeakObject: @unchecked Sendable {
    weak var object: AnyObject?

    init(_ object: AnyObject) {
        self.object = object
    }
}
