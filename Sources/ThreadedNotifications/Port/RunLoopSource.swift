package import CoreFoundation
package import Foundation

/// A version-0 source of a run loop: other threads signal it, and the run loop calls it.
///
/// Signals are kept until the run loop runs in a mode of the source. Several signals before that result in one call.
/// Threads: any.
package final class RunLoopSource: Sendable {
    private let source: LockedObject<CFRunLoopSource>

    /// - Parameters:
    ///   - order: the run loop calls signalled sources in ascending order.
    ///   - perform: called on the run loop's thread after a signal.
    ///   - cancelled: called when the source is removed from a mode of a run loop, also because the thread ends.
    package init(
        order: Int = 0, perform: @escaping @Sendable () -> Void,
        cancelled: @escaping @Sendable () -> Void = {}
    ) {
        let callbacks = Callbacks(perform: perform, cancelled: cancelled)
        var context = CFRunLoopSourceContext(
            version: 0, info: callbacks.info, retain: Callbacks.retain, release: Callbacks.release,
            copyDescription: nil, equal: nil, hash: nil, schedule: nil,
            cancel: { info, _, _ in Callbacks.of(info).cancelled() }, perform: { Callbacks.of($0).perform() })
        source = LockedObject(withExtendedLifetime(callbacks) { CFRunLoopSourceCreate(nil, order, &context) })
    }

    deinit {
        invalidate()
    }

    package func signal() {
        ForkedCopy.wake { CFRunLoopSourceSignal(source.object) }
    }

    package func invalidate() {
        CFRunLoopSourceInvalidate(source.object)
    }

    package func add(to runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopAddSource(runLoop.runLoop.object, source.object, mode.coreFoundationMode)
    }

    package func remove(from runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopRemoveSource(runLoop.runLoop.object, source.object, mode.coreFoundationMode)
    }
}

/// A version-1 source of a run loop: it is called when its descriptor is made ready.
///
/// Threads: used on the run loop's thread only. The type is not Sendable.
package final class DescriptorSource {
    private let source: CFRunLoopSource
    /// Closed after the source was invalidated. The callbacks do not retain it, because a callback that ends the thread
    /// does not return.
    private let descriptor: EventDescriptor

    /// - Parameter perform: called when the descriptor was made ready, after the run loop has cleared it.
    package init(_ descriptor: EventDescriptor, perform: @escaping () -> Void) {
        self.descriptor = descriptor
        source = Self.make(descriptor.number, perform: perform)
    }

    /// A source for a descriptor that outlives it. It may be added to a run loop, and invalidated, on any thread.
    package static func make(_ descriptor: Int32, perform: @escaping () -> Void) -> CFRunLoopSource {
        let callbacks = Callbacks(descriptor: descriptor, perform: perform)
        var context = CFRunLoopSourceContext1(
            version: 1, info: callbacks.info, retain: Callbacks.retain, release: Callbacks.release,
            copyDescription: nil, equal: nil, hash: nil, getPort: { Callbacks.of($0).descriptor },
            perform: { Callbacks.of($0).perform() })
        return withExtendedLifetime(callbacks) {
            withUnsafeMutableBytes(of: &context) {
                CFRunLoopSourceCreate(nil, 0, $0.baseAddress!.assumingMemoryBound(to: CFRunLoopSourceContext.self))
            }
        }
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    /// Adds the source to a mode of the calling thread's run loop.
    package func addToCurrent(_ mode: RunLoop.Mode) {
        addToCurrent(mode.coreFoundationMode)
    }

    package func addToCurrent(_ mode: CFString) {
        CFRunLoopAddSource(CFRunLoopGetCurrent(), source, mode)
    }

    package func removeFromCurrent(_ mode: CFString) {
        CFRunLoopRemoveSource(CFRunLoopGetCurrent(), source, mode)
    }
}

/// What CoreFoundation calls for a source, which retains it.
private final class Callbacks {
    let descriptor: Int32
    let perform: () -> Void
    let cancelled: () -> Void

    init(descriptor: Int32 = -1, perform: @escaping () -> Void, cancelled: @escaping () -> Void = {}) {
        (self.descriptor, self.perform, self.cancelled) = (descriptor, perform, cancelled)
    }

    var info: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func of(_ info: UnsafeMutableRawPointer?) -> Callbacks {
        Unmanaged<Callbacks>.fromOpaque(info!).takeUnretainedValue()
    }

    static let retain: @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer? = {
        UnsafeRawPointer(Unmanaged<Callbacks>.fromOpaque($0!).retain().toOpaque())
    }

    static let release: @convention(c) (UnsafeRawPointer?) -> Void = { Unmanaged<Callbacks>.fromOpaque($0!).release() }
}
