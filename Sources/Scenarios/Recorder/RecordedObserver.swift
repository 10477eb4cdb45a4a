internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// The document's observer, as observer 1, recorded at every stage that can be seen from outside of it.
final class RecordedObserver: Sendable {
    let port: RecordedPort
    private let name: Notification.Name
    private let observer: RedirectingObserver
    private let removal = Locked<(@Sendable () -> Void)?>(nil)

    /// - Parameter handler: called on the target thread with the number of the post.
    init(
        of name: Notification.Name = .test, dropProbability: Double = 0, seed: UInt64 = 1,
        handler: @escaping @Sendable (Int) -> Void
    ) {
        let port = RecordedPort(notification: name, dropProbability: dropProbability, seed: seed)
        self.port = port
        self.name = name
        observer = RedirectingObserver(notificationPort: port) { notification in
            let post = notification.object as? Int
            ScenarioRecording.record(.deliver, notification: name, post: post, observer: 1)
            handler(post ?? 0)
            ScenarioRecording.record(.return, notification: name, post: post, observer: 1)
        }
    }

    /// Makes the current thread the target and registers with the center, as the document does.
    func observe() {
        observer.setUpThreadingSupport()
        let current = ThreadIdentity.current
        ScenarioRecording.record(.register, notification: name, observer: 1, target: current)
        // Safety: the token is only passed back to the center, which accepts it on any thread.
        nonisolated(unsafe) let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
            [observer, name] notification in
            let post = notification.object as? Int
            ScenarioRecording.record(.capture, notification: name, post: post)
            ScenarioRecording.record(.append, notification: name, post: post, observer: 1, target: current)
            observer.processNotification(notification)
        }
        removal.withLock { $0 = { NotificationCenter.default.removeObserver(token) } }
    }

    /// Removes what was registered, on any thread. Call this once: Foundation gives a removed token's key to the next
    /// observer.
    func remove() { removal.withLock { $0 }?() }

    /// Posts to the center, which knows nothing of redirecting.
    func post(number: Int) {
        ScenarioRecording.record(.post, notification: name, post: number, count: 1)
        NotificationCenter.default.post(name: name, object: number)
    }
}
