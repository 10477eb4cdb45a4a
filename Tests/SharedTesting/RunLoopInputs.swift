internal import CoreFoundation
package import Foundation
internal import Glibc
package import ThreadedNotifications

// Functions of CoreFoundation's run loop that Foundation does not offer, and inputs for it.

extension RunLoop {
    /// Runs the current thread's run loop until a condition is true.
    ///
    /// The condition is checked whenever the run loop returns: after a source, a job of the main queue or a post, but
    /// not after a timer or a block, which have to call `stopCurrent`.
    /// - Returns: false if the condition is not true before the timeout.
    package static func runCurrent(in mode: Mode = .default, until isSo: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while !isSo() {
            guard RunLoop.current.run(mode: mode, before: deadline), Date() < deadline else { return false }
        }
        return true
    }

    /// Runs the current thread's run loop until `stopCurrent` is called, without returning after each source.
    /// - Returns: false if it was not called before the timeout.
    package static func runCurrentUntilStopped() -> Bool {
        CFRunLoopRunInMode(Mode.default.string, TestTimeout.seconds, false) == .stopped
    }

    /// Runs the current thread's run loop without waiting. On the main thread, everything that waits is delivered.
    package static func pollCurrent(in mode: Mode = .default) {
        MainThread.main.drainBudget = .unbounded
        _ = RunLoop.current.run(mode: mode, before: .distantPast)
    }

    /// Makes a mode of the current thread's run loop common. This cannot be undone.
    package static func makeCommonInCurrent(_ mode: Mode) {
        CFRunLoopAddCommonMode(CFRunLoopGetCurrent(), mode.string)
    }

    /// Adds a timer that is due to the current thread's run loop.
    package static func addDueTimer(in mode: Mode = .default, _ body: @escaping @Sendable () -> Void) {
        addTimer(after: -1, in: mode, body)
    }

    /// Adds a timer that fires once to the current thread's run loop.
    package static func addTimer(
        after delay: TimeInterval, in mode: Mode = .default, _ body: @escaping @Sendable () -> Void
    ) {
        let timer = Timer(fire: Date(timeIntervalSinceNow: delay), interval: 0, repeats: false) { _ in body() }
        RunLoop.current.add(timer, forMode: mode)
    }

    /// Enqueues a block in the current thread's mailbox.
    package static func performInMailbox(_ body: @escaping @Sendable () -> Void) {
        let thread = CurrentThread.current
        Thread.posting(1) { _ = try? thread.perform(body) }.wait()
    }

    /// Adds a port that is already signalled to the current thread's run loop.
    package static func addSignalledPort(in mode: Mode = .default, _ body: @escaping @Sendable () -> Void)
        -> PortReceiver
    {
        let receiver = PortReceiver(mode: mode) { _ in body() }
        receiver.port.signal()
        return receiver
    }
}

/// A port on the run loop of the thread that makes it, until it is deallocated, with a block that a signal calls.
package final class PortReceiver: NSObject, PortDelegate {
    package let port = SignalPort()
    private let body: (SignalPort) -> Void

    package init(mode: RunLoop.Mode = .default, _ body: @escaping (SignalPort) -> Void) {
        self.body = body
        super.init()
        port.setDelegate(self)
        RunLoop.current.add(port, forMode: mode)
    }

    deinit {
        port.invalidate()
    }

    package func handle(_ message: PortMessage) { body(port) }
}

/// A descriptor on the run loop of the thread that makes it, until it is deallocated, with a block that is called when
/// the descriptor is readable.
package final class ReadableDescriptor {
    private let handler: Handler
    private let source: CFRunLoopSource

    package init(mode: RunLoop.Mode = .default, _ body: @escaping () -> Void) {
        handler = Handler(body)
        source = handler.makeSource()
        CFRunLoopAddSource(CFRunLoopGetCurrent(), source, mode.string)
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    package func makeReady() {
        handler.descriptor.makeReady()
    }

    private final class Handler {
        let descriptor = EventDescriptor()!
        private let body: () -> Void

        init(_ body: @escaping () -> Void) {
            self.body = body
        }

        private func handle() {
            var value: UInt64 = 0
            _ = read(descriptor.number, &value, 8)
            body()
        }

        func makeSource() -> CFRunLoopSource {
            var context = CFRunLoopSourceContext1(
                version: 1, info: Unmanaged.passUnretained(self).toOpaque(),
                retain: { UnsafeRawPointer(Unmanaged<Handler>.fromOpaque($0!).retain().toOpaque()) },
                release: { Unmanaged<Handler>.fromOpaque($0!).release() }, copyDescription: nil, equal: nil, hash: nil,
                getPort: { Unmanaged<Handler>.fromOpaque($0!).takeUnretainedValue().descriptor.number },
                perform: { Unmanaged<Handler>.fromOpaque($0!).takeUnretainedValue().handle() })
            return withUnsafeMutableBytes(of: &context) { context in
                CFRunLoopSourceCreate(
                    nil, 0, context.baseAddress!.assumingMemoryBound(to: CFRunLoopSourceContext.self))
            }
        }
    }
}

extension RunLoop.Mode {
    fileprivate var string: CFString {
        CFStringCreateWithCString(nil, rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
}
