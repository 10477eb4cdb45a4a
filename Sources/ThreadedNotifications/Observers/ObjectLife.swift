internal import CLinux

/// Whether an object that is not retained is still alive, asked on any thread.
///
/// A weak reference cannot be asked on another thread than the object's own: loading it retains the object, and if the
/// owner releases the object meanwhile, its `deinit` runs on the thread that asked.
///
/// Cost: the object's memory, but nothing that its `deinit` releases, is kept as long as this value.
//
// Safety: the unowned reference is never loaded. It keeps the memory at `address`, whose reference count the runtime
// reads atomically.
struct ObjectLife: @unchecked Sendable {
    private unowned let object: AnyObject
    private let address: UnsafeRawPointer

    init(of object: AnyObject) {
        self.object = object
        address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }

    /// The object has been deallocated, or is being deallocated.
    var isOver: Bool { swift_isDeallocating(address) }
}
