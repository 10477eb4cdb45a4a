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
/// A thread that has added such a port to its run loop performs the blocks of
/// `NSObject.perform(on:waitUntilDone:timeout:_:)`; its run loop then has something to wait for until the thread ends.
/// Threads, order, removal and cost: see `SignalPort`. Components are not sent, and there is no Mach port name.
/// Source: "Delivering Notifications To Particular Threads".
//
// Safety: it adds no stored property to `SignalPort`, which is Sendable.
open class NSMachPort: SignalPort, @unchecked Sendable {
    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        super.schedule(in: runLoop, forMode: mode)
        if isValid, runLoop === RunLoop.current { _ = PerformingThreads.shared.targetOfCurrentThread }
    }
}

/// The delegate of an `NSMachPort`.
///
/// Both methods may be left out, as on Apple's platforms. `handle(_:)` calls `handleMachMessage(_:)`, unless the
/// delegate has a `handle(_:)` of its own.
/// Threads: called on the thread of the run loop that has the port.
/// Source: "Delivering Notifications To Particular Threads", `handleMachMessage:`.
public protocol NSMachPortDelegate: PortDelegate {
    /// Called after one or more signals.
    /// - Parameter msg: an empty message: as many zero bytes as a Mach header has. It is valid during the call.
    func handleMachMessage(_ msg: UnsafeMutableRawPointer)
}

extension NSMachPortDelegate {
    public func handleMachMessage(_ msg: UnsafeMutableRawPointer) {}

    public func handle(_ message: PortMessage) {
        var header: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &header) { bytes in
            if let address = bytes.baseAddress { handleMachMessage(address) }
        }
    }
}
