internal import CLinux

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
