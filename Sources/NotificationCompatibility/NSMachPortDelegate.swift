public import Foundation

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
