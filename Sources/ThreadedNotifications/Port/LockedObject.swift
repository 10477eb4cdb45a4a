package import CoreFoundation

/// A CoreFoundation object that any thread may use, because CoreFoundation locks it: a run loop, a source or an
/// observer.
//
// Safety: the initializers accept these three types only. CoreFoundation documents that a run loop may be woken, and
// sources and observers added, removed, signalled and invalidated, on any thread; each takes a lock of the object for
// that.
package struct LockedObject<Object: AnyObject>: @unchecked Sendable {
    package let object: Object

    package init(_ runLoop: CFRunLoop) where Object == CFRunLoop {
        object = runLoop
    }

    package init(_ source: CFRunLoopSource) where Object == CFRunLoopSource {
        object = source
    }

    package init(_ observer: CFRunLoopObserver) where Object == CFRunLoopObserver {
        object = observer
    }
}
