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
