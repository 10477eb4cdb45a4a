internal import CoreFoundation
package import Foundation

/// A source of a run loop: the run loop calls it after a signal, or when its descriptor was made ready.
///
/// Signals are kept until the run loop runs in a mode of the source. Several signals before that result in one call.
/// Threads: any. The source is called on the run loop's thread.
package final class RunLoopSource: Sendable {
    private let source: LockedObject<CFRunLoopSource>
    /// Closed after the source was invalidated. The callbacks do not retain it, because a callback that ends the thread
    /// does not return.
    private let descriptor: EventDescriptor?

    /// A version-0 source, for signals.
    /// - Parameters:
    ///   - order: the run loop calls signalled sources in ascending order.
    ///   - cancelled: called when the source is removed from a mode of a run loop, also because the thread ends.
    package init(
        order: Int = 0, perform: @escaping @Sendable () -> Void, cancelled: @escaping @Sendable () -> Void = {}
    ) {
        descriptor = nil
        let callbacks = Callbacks(perform: perform, cancelled: cancelled)
        var context = CFRunLoopSourceContext(
            version: 0, info: callbacks.info, retain: Callbacks.retain, release: Callbacks.release,
            copyDescription: nil, equal: nil, hash: nil, schedule: nil,
            cancel: { info, _, _ in Unmanaged<Callbacks>.fromOpaque(info!).takeUnretainedValue().cancelled() },
            perform: { Unmanaged<Callbacks>.fromOpaque($0!).takeUnretainedValue().perform() })
        source = LockedObject(withExtendedLifetime(callbacks) { CFRunLoopSourceCreate(nil, order, &context) })
    }

    /// A version-1 source, for an event that the run loop clears before it calls the source.
    package convenience init(_ event: EventDescriptor, perform: @escaping @Sendable () -> Void) {
        self.init(event.number, of: event, perform: perform)
    }

    /// A version-1 source, for a descriptor that outlives it unless `event` has it.
    package init(_ descriptor: Int32, of event: EventDescriptor? = nil, perform: @escaping @Sendable () -> Void) {
        self.descriptor = event
        let callbacks = Callbacks(descriptor: descriptor, perform: perform)
        var context = CFRunLoopSourceContext1(
            version: 1, info: callbacks.info, retain: Callbacks.retain, release: Callbacks.release,
            copyDescription: nil, equal: nil, hash: nil,
            getPort: { Unmanaged<Callbacks>.fromOpaque($0!).takeUnretainedValue().descriptor },
            perform: { Unmanaged<Callbacks>.fromOpaque($0!).takeUnretainedValue().perform() })
        source = withExtendedLifetime(callbacks) {
            withUnsafeMutableBytes(of: &context) {
                let context = $0.baseAddress!.assumingMemoryBound(to: CFRunLoopSourceContext.self)
                return LockedObject(CFRunLoopSourceCreate(nil, 0, context))
            }
        }
    }

    deinit { invalidate() }

    package func signal() { CFRunLoopSourceSignal(source.object) }
    package func invalidate() { CFRunLoopSourceInvalidate(source.object) }

    package func add(to runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopAddSource(runLoop.runLoop.object, source.object, mode.coreFoundationMode)
    }

    package func remove(from runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopRemoveSource(runLoop.runLoop.object, source.object, mode.coreFoundationMode)
    }
}

/// The functions that CoreFoundation calls for a source. The source retains them.
private final class Callbacks: Sendable {
    let descriptor: Int32
    let perform: @Sendable () -> Void
    let cancelled: @Sendable () -> Void

    init(
        descriptor: Int32 = -1, perform: @escaping @Sendable () -> Void, cancelled: @escaping @Sendable () -> Void = {}
    ) {
        (self.descriptor, self.perform, self.cancelled) = (descriptor, perform, cancelled)
    }

    var info: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let retain: @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer? = {
        UnsafeRawPointer(Unmanaged<Callbacks>.fromOpaque($0!).retain().toOpaque())
    }

    static let release: @convention(c) (UnsafeRawPointer?) -> Void = { Unmanaged<Callbacks>.fromOpaque($0!).release() }
}
