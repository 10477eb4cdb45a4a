internal import Foundation

/// Called when a port's message was received.
final class SignalReceiver: NSObject, PortDelegate {
    private let received: @Sendable () -> Void

    init(_ received: @escaping @Sendable () -> Void) {
        self.received = received
    }

    func handle(_ message: PortMessage) {
        received()
    }
}
