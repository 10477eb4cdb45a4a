public import Foundation
public import ThreadedNotifications

/// Apple's name for a `SignalPort`: a port for messages without content, which wake a thread.
///
///     let port = NSMachPort()
///     port.setDelegate(self)
///     RunLoop.current.add(port, forMode: .common)
///     …
///     port.send(before: Date(), components: nil, from: nil, reserved: 0)   // on any thread
///
/// A thread that has such a port on its run loop performs the blocks of
/// `NSObject.perform(on:waitUntilDone:timeout:_:)`.
/// Threads, order, removal and cost: see `SignalPort`. Components are not sent, and there is no Mach port name.
/// Source: "Delivering Notifications To Particular Threads".
//
// Safety: it adds no stored property to `SignalPort`, which is Sendable.
open class NSMachPort: SignalPort, @unchecked Sendable {
    deinit {
        PerformingThreads.shared.remove(port: ObjectIdentifier(self))
    }

    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        super.schedule(in: runLoop, forMode: mode)
        if isValid, runLoop !== RunLoop.main { PerformingThreads.shared.add(port: ObjectIdentifier(self)) }
    }

    open override func invalidate() {
        PerformingThreads.shared.remove(port: ObjectIdentifier(self))
        super.invalidate()
    }
}
