internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// A signal port that records its signals and drains, and that loses signals if it is told to.
///
/// The document warns that "port messages may get dropped if too many are sent simultaneously": this one drops any.
final class RecordedPort: SignalPort, PortDelegate {
    private let notification: Notification.Name
    private let dropProbability: Double
    /// The state of a generator that the seed repeats.
    private let random: Locked<UInt64>
    private weak var receiver: (any PortDelegate)?

    init(notification: Notification.Name, dropProbability: Double = 0, seed: UInt64 = 1) {
        self.notification = notification
        self.dropProbability = dropProbability
        random = Locked(seed)
        super.init()
    }

    override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?, reserved headerSpaceReserved: Int
    ) -> Bool {
        let random = random.withLock { state in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) * 0x1p-53
        }
        if random < dropProbability {
            ScenarioRecording.record(.dropSignal, notification: notification)
            // Lost without a word, as a sender that does not look at the answer sees it.
            return true
        }
        return sendReliably()
    }

    /// Sends a signal that is not lost.
    @discardableResult
    func sendReliably() -> Bool {
        ScenarioRecording.record(.signal, notification: notification)
        return super.send(before: Date(), components: nil, from: nil, reserved: 0)
    }

    /// Call this before the port is added to a run loop.
    override func setDelegate(_ delegate: (any PortDelegate)?) {
        receiver = delegate
        super.setDelegate(self)
    }

    func handle(_ message: PortMessage) {
        ScenarioRecording.record(.drain, notification: notification)
        receiver?.handle(message)
    }
}

// Safety: the random state is behind a lock. The receiver is set before the port is added to a run loop, and a weak
// reference is read atomically. All else is constant.
extension RecordedPort: @unchecked Sendable {}
