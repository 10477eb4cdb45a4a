/// A reference that does not retain its object.
//
// Safety: the runtime reads and writes weak references atomically.
package struct WeakReference<Object: AnyObject>: @unchecked Sendable {
    package weak var object: Object?

    package init(_ object: Object) {
        self.object = object
    }
}
