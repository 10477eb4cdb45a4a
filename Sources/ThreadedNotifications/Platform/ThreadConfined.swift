/// A value that one thread uses, in memory of its own.
///
/// A property of a class is checked at run time for overlapping accesses, which costs as much as beginning a delivery.
/// This value is not checked. Accesses must not overlap: an access calls no handler, tracer or other foreign code.
/// It is not `Sendable`, and belongs to `ThreadContext`, which only its own thread can get.
struct ThreadConfined<Value> {
    /// Its accessors give this address, and are not `_read` coroutines: the compiler (6.3.1) without optimisation reads
    /// the frame of such a coroutine after it is freed, which the address sanitizer reports.
    let pointer: UnsafeMutablePointer<Value>

    init(_ value: Value) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: value)
    }

    /// Releases the value and its memory. The owner calls it once, at its own end.
    func deallocate() {
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }

    var value: Value {
        @inline(__always) unsafeAddress { UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { pointer }
    }
}
