internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// A signal port that records its signals and drains, and that loses signals if it is told to.
///
/// The document warns that "port messages may get dropped if too many are sent simultaneously": this one drops any.
final class RecordedPort: SignalPort, PortDelegate {
    private let recorder: DeliveryRecorder
    private let notification: Notification.Name
    private let dropProbability: Double
    private let generator: Locked<SeededGenerator>
    private weak var receiver: (any PortDelegate)?

    init(recorder: DeliveryRecorder, notification: Notification.Name, dropProbability: Double = 0, seed: UInt64 = 1) {
        self.recorder = recorder
        self.notification = notification
        self.dropProbability = dropProbability
        generator = Locked(SeededGenerator(state: seed))
        super.init()
    }

    override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?, reserved headerSpaceReserved: Int
    ) -> Bool {
        if dropProbability > 0, generator.withLock({ Double.random(in: 0..<1, using: &$0) }) < dropProbability {
            recorder.record(.dropSignal, notification: notification)
            // Lost without a word, as a sender that does not look at the answer sees it.
            return true
        }
        return sendReliably()
    }

    /// Sends a signal that is not lost.
    @discardableResult
    func sendReliably() -> Bool {
        recorder.record(.signal, notification: notification)
        return super.send(before: Date(), components: nil, from: nil, reserved: 0)
    }

    /// Call this before the port is added to a run loop.
    override func setDelegate(_ delegate: (any PortDelegate)?) {
        receiver = delegate
        super.setDelegate(self)
    }

    /// Records a drain, and passes it on.
    func handle(_ message: PortMessage) {
        recorder.record(.drain, notification: notification)
        receiver?.handle(message)
    }
}

// Safety: the generator is behind a lock. The receiver is set before the port is added to a run loop, and a weak
// reference is read atomically. All else is constant.
extension RecordedPort: @unchecked Sendable {}

/// Random numbers that a seed repeats: the SplitMix64 generator.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
