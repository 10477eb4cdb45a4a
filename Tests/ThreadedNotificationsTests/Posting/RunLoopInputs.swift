import CoreFoundation
import Foundation
import Glibc

@testable import ThreadedNotifications

// The one test file that imports CoreFoundation: what Foundation's RunLoop does not show, and what it is run by.

extension RunLoop {
    /// Runs the current thread's run loop until something is so.
    ///
    /// It looks whenever the run loop returns, which is after a source, a job of the main queue or a post, but not
    /// after a timer or a block: those end it by `stopCurrent`.
    /// - Returns: false if it is not so after the limit, or became so only because the limit had passed.
    static func runCurrent(in mode: Mode = .default, until isSo: () -> Bool) -> Bool {
        let limit = Date(timeIntervalSinceNow: TestLimit.seconds)
        while !isSo() {
            guard RunLoop.current.run(mode: mode, before: limit), Date() < limit else { return false }
        }
        return true
    }

    /// Runs the current thread's run loop until `stopCurrent` is called, without returning after each source.
    /// - Returns: false if it was not called within the limit.
    static func runCurrentUntilStopped() -> Bool {
        CFRunLoopRunInMode(Mode.default.string, TestLimit.seconds, false) == .stopped
    }

    /// Has the current thread's run loop do what it can do at once, and return.
    static func pollCurrent(in mode: Mode = .default) {
        _ = RunLoop.current.run(mode: mode, before: .distantPast)
    }

    /// Has the current thread's run loop return when the callout under way ends.
    static func stopCurrent() {
        CFRunLoopStop(CFRunLoopGetCurrent())
    }

    /// Makes a mode of the current thread's run loop a common one; it stays so.
    static func makeCommonInCurrent(_ mode: Mode) {
        CFRunLoopAddCommonMode(CFRunLoopGetCurrent(), mode.string)
    }

    /// Adds a timer that is due to the current thread's run loop.
    static func addDueTimer(in mode: Mode = .default, _ body: @escaping @Sendable () -> Void) {
        addTimer(after: -1, in: mode, body)
    }

    /// Adds a timer that fires once to the current thread's run loop.
    static func addTimer(
        after delay: TimeInterval, in mode: Mode = .default, _ body: @escaping @Sendable () -> Void
    ) {
        let timer = Timer(fire: Date(timeIntervalSinceNow: delay), interval: 0, repeats: false) { _ in body() }
        RunLoop.current.add(timer, forMode: mode)
    }

    /// Hands a block over to the current thread, so that it is performed in its turn.
    static func performInMailbox(_ body: @escaping @Sendable () -> Void) {
        let thread = CurrentThread.current
        Thread.posting(1) { _ = try? thread.perform(body) }.wait()
    }

    /// Has the current thread's run loop serve a port that is signalled already.
    static func addSignalledPort(in mode: Mode = .default, _ body: @escaping @Sendable () -> Void) -> PortReceiver {
        let receiver = PortReceiver(mode: mode) { _ in body() }
        receiver.port.signal()
        return receiver
    }
}

/// A port on the run loop of the thread that makes it, as long as it is held, and what is done when it is signalled.
final class PortReceiver: NSObject, PortDelegate {
    let port = SignalPort()
    private let body: (SignalPort) -> Void

    init(mode: RunLoop.Mode = .default, _ body: @escaping (SignalPort) -> Void) {
        self.body = body
        super.init()
        port.setDelegate(self)
        RunLoop.current.add(port, forMode: mode)
    }

    deinit {
        port.invalidate()
    }

    func handle(_ message: PortMessage) { body(port) }
}

/// A descriptor on the run loop of the thread that makes it, as long as it is held, and what is done when it can be
/// read from.
final class ReadableDescriptor {
    private let handler: Handler
    private let source: CFRunLoopSource

    init(mode: RunLoop.Mode = .default, _ body: @escaping () -> Void) {
        handler = Handler(body)
        source = handler.makeSource()
        CFRunLoopAddSource(CFRunLoopGetCurrent(), source, mode.string)
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    func makeReady() {
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

extension ThreadIdentity {
    /// Returns when the kernel has the thread asleep, or after the limit.
    func waitUntilAsleep() {
        let limit = ContinuousClock.now + TestLimit.hang
        while ContinuousClock.now < limit {
            let status = (try? String(contentsOfFile: "/proc/self/task/\(kernelID)/stat", encoding: .utf8)) ?? ""
            if status.split(separator: ")").last?.hasPrefix(" S") == true { return }
            sched_yield()
        }
    }
}
