internal import Foundation

/// A port delegate that calls a block for each message.
final class SignalReceiver: NSObject, PortDelegate {
    private let received: @Sendable () -> Void

    init(_ received: @escaping @Sendable () -> Void) {
        self.received = received
    }

    func handle(_ message: PortMessage) {
        received()
    }
}
