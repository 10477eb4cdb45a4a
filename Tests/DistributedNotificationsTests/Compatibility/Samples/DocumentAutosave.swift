import NotificationCompatibility

/// A document that saves when typing stops, and a display that flushes once for many changes: the two examples of
/// "Posting Notifications Asynchronously".
final class DocumentAutosave: NSObject, @unchecked Sendable {
    static let didChange = Notification.Name("DocumentAutosaveDidChange")
    static let needsDisplay = Notification.Name("DocumentAutosaveNeedsDisplay")

    private let center = NotificationCenter()
    private let queue: NotificationQueue
    private var tokens: [any NSObjectProtocol] = []
    private(set) var text = ""
    private(set) var saved: [String] = []
    private(set) var flushes = 0

    override init() {
        queue = NotificationQueue(notificationCenter: center)
        super.init()
        tokens = [
            center.addObserver(forName: Self.didChange, object: nil, queue: nil) { [unowned self] _ in
                saved.append(text)
            },
            center.addObserver(forName: Self.needsDisplay, object: nil, queue: nil) { [unowned self] _ in
                flushes += 1
            },
        ]
    }

    deinit {
        tokens.forEach(center.removeObserver)
    }

    func type(_ characters: String) {
        text += characters
        queue.enqueue(Notification(name: Self.needsDisplay, object: self), postingStyle: .asap)
        queue.enqueue(
            Notification(name: Self.didChange, object: self), postingStyle: .whenIdle,
            coalesceMask: [.onName, .onSender], forModes: [.default])
    }

    func revert() {
        queue.dequeueNotifications(
            matching: Notification(name: Self.didChange, object: self),
            coalesceMask: Int(NotificationQueue.NotificationCoalescing.onName.rawValue))
        text = saved.last ?? ""
    }

    func saveNow() {
        queue.enqueue(
            Notification(name: Self.didChange, object: self), postingStyle: .now, coalesceMask: .onName, forModes: nil)
    }
}
