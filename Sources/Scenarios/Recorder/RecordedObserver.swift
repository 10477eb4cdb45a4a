internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// The document's observer with a recorder at every stage that can be seen from outside of it.
final class RecordedObserver: Sendable {
    let port: RecordedPort
    private let notification: Notification.Name
    private let recorder: DeliveryRecorder
    private let observer: RedirectingObserver
    private let registrations = Locked<[Registration]>([])

    /// - Parameter handler: called on the target thread with the number of the post.
    init(
        of notification: Notification.Name, recorder: DeliveryRecorder, dropProbability: Double = 0, seed: UInt64 = 1,
        handler: @escaping @Sendable (Int?) -> Void
    ) {
        let name = notification.rawValue
        let port = RecordedPort(
            recorder: recorder, notification: name, dropProbability: dropProbability, seed: seed)
        self.port = port
        self.notification = notification
        self.recorder = recorder
        observer = RedirectingObserver(notificationPort: port) { notification in
            let post = notification.object as? Int
            recorder.record(.deliver, notification: name, post: post)
            handler(post)
        }
    }

    /// Makes the current thread the target and registers with the center, as the document does.
    func observe(_ center: NotificationCenter = .default) {
        observer.setUpThreadingSupport()
        recorder.record(.register, notification: notification.rawValue)
        let token = center.addObserver(forName: notification, object: nil, queue: nil) {
            [recorder, observer] notification in
            recorder.record(.capture, notification: notification.name.rawValue, post: notification.object as? Int)
            observer.processNotification(notification)
        }
        let registration = Registration(center: center, token: token)
        registrations.withLock { $0.append(registration) }
    }

    /// Removes what was registered, on any thread.
    func remove() {
        let registrations = registrations.withLock { registrations in
            defer { registrations = [] }
            return registrations
        }
        // Once only: Foundation gives a removed token's key to the next observer.
        for registration in registrations { registration.center.removeObserver(registration.token) }
    }

    /// Posts to a center, which knows nothing of redirecting.
    func post(number: Int, to center: NotificationCenter = .default) {
        recorder.record(.post, notification: notification.rawValue, post: number)
        center.post(name: notification, object: number)
    }
}

// A registration with a center.
//
// Safety: nothing is done with the token but to hand it back to the center, which takes it on any thread.
private struct Registration: @unchecked Sendable {
    let center: NotificationCenter
    let token: any NSObjectProtocol
}
