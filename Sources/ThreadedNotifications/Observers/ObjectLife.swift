internal import CLinux
package import Foundation
internal import Synchronization

/// Tells, on any thread, whether an object that is not retained is still alive.
///
/// A weak reference would retain the object while it is loaded. If the owner releases the object meanwhile, its
/// `deinit` would run on the thread that loads.
///
/// Cost: the object's memory is kept as long as this value, without anything that its `deinit` releases.
//
// Safety: the unowned reference is never loaded. It keeps the memory at `address`, and the runtime reads the
// reference count there atomically.
struct ObjectLife: @unchecked Sendable {
    private unowned let object: AnyObject
    private let address: UnsafeRawPointer

    /// The object's address. No other object gets it while this value exists.
    var identifier: UInt { UInt(bitPattern: address) }

    init(of object: AnyObject) {
        self.object = object
        address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }

    /// The object has been deallocated, or is being deallocated. With a Swift runtime that cannot say so it is false,
    /// and the observer is removed when its next notification is to be delivered.
    var isOver: Bool { CLinuxIsDeallocating(address) }

    /// True if an object is being deallocated. With such a runtime it is false, and a reference that is kept stops the
    /// program.
    static func isOver(of object: AnyObject) -> Bool {
        CLinuxIsDeallocating(Unmanaged.passUnretained(object).toOpaque())
    }
}

extension Notification {
    /// The notification as it may outlive the call that posts it: without its object, if that is being deallocated.
    /// A reference that outlives the object's `deinit` would stop the program.
    @inline(__always)
    var kept: Notification { object == nil ? self : withoutEndingObject }

    /// As `kept`, with a warning if the object is lost.
    @inline(__always)
    package func kept(at location: SourceLocation) -> Notification {
        if object == nil { return self }
        let kept = withoutEndingObject
        if kept.object == nil { warnOfLostObject(at: location) }
        return kept
    }

    @inline(never)
    private var withoutEndingObject: Notification {
        guard let object, type(of: object) is AnyClass, ObjectLife.isOver(of: object as AnyObject) else { return self }
        var kept = self
        kept.object = nil
        return kept
    }

    /// Warns on standard error, once in this process, unless `THREADED_NOTIFICATIONS_WARNINGS` is 0.
    func warnOfLostObject(at location: SourceLocation) {
        guard let object, !hasWarned.exchange(true, ordering: .relaxed) else { return }
        // Notifications that another center captures have no line.
        let place = location.line == 0 ? "" : " at \(location.file):\(location.line)"
        StandardError.warn(
            "\(name.rawValue), posted\(place), is delivered without its object, because the deinit of that "
                + "\(type(of: object)) posts it: when another thread or a later handler gets it, the object does not "
                + "exist any more. Post it before the object is released, or put what handlers need into "
                + "userInfo. THREADED_NOTIFICATIONS_WARNINGS=0 disables this warning.")
    }
}

private let hasWarned = Atomic(false)
