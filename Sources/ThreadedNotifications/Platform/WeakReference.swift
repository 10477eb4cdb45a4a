/// A reference that does not retain its object.
//
// Safety: the runtime reads and writes weak references atomically.
struct WeakReference<Object: AnyObject>: @unchecked Sendable {
    weak var object: Object?

    init(_ object: Object) {
        self.object = object
    }
}
