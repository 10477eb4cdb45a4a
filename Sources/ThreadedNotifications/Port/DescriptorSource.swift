package import CoreFoundation
package import Foundation

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
        Callbacks(descriptor: descriptor, perform: perform).makeSource()
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    /// Adds the source to a mode of the calling thread's run loop.
    package func addToCurrent(_ mode: CFString) {
        CFRunLoopAddSource(CFRunLoopGetCurrent(), source, mode)
    }

    package func addToCurrent(_ mode: RunLoop.Mode) {
        addToCurrent(mode.coreFoundationMode)
    }

    package func removeFromCurrent(_ mode: CFString) {
        CFRunLoopRemoveSource(CFRunLoopGetCurrent(), source, mode)
    }

    /// The callbacks of a source. The source retains them.
    private final class Callbacks {
        private let descriptor: Int32
        private let perform: () -> Void

        init(descriptor: Int32, perform: @escaping () -> Void) {
            self.descriptor = descriptor
            self.perform = perform
        }

        func makeSource() -> CFRunLoopSource {
            var context = CFRunLoopSourceContext1(
                version: 1,
                info: Unmanaged.passUnretained(self).toOpaque(),
                retain: { UnsafeRawPointer(Unmanaged<Callbacks>.fromOpaque($0!).retain().toOpaque()) },
                release: { Unmanaged<Callbacks>.fromOpaque($0!).release() },
                copyDescription: nil,
                equal: nil,
                hash: nil,
                getPort: { info in
                    Unmanaged<Callbacks>.fromOpaque(info!).takeUnretainedValue().descriptor
                },
                perform: { info in
                    if let info { Unmanaged<Callbacks>.fromOpaque(info).takeUnretainedValue().perform() }
                }
            )
            return withUnsafeMutableBytes(of: &context) { context in
                CFRunLoopSourceCreate(
                    nil, 0, context.baseAddress!.assumingMemoryBound(to: CFRunLoopSourceContext.self))
            }
        }
    }
}
