internal import Foundation
internal import ThreadedNotifications

/// The notification center of the side that is asked. Its observers stay until they are removed or the trial ends.
///
/// Threads: every method may be called on any thread.
final class CenterUnderTest: Sendable {
    private let side: Question.Side
    private let foundation = NotificationCenter()
    private let ours = ThreadedNotificationCenter()
    private let tokens = Locked<[ObserverToken]>([])

    init(_ side: Question.Side) { self.side = side }

    /// Returns a function that removes the observer.
    ///
    /// - Parameter worker: where its handler runs. Nil means the posting thread.
    @discardableResult
    func addObserver(
        _ name: Notification.Name? = .test, object: Any? = nil, on worker: Worker? = nil,
        _ handler: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        switch side {
        case .foundation:
            // Safety: the token is only passed back to the center, which accepts it on any thread.
            nonisolated(unsafe) let token = foundation.addObserver(
                forName: name, object: object, queue: worker?.queue
            ) { _ in handler() }
            return { [foundation] in foundation.removeObserver(token) }
        case .ours:
            let target: any DeliveryTarget = worker?.target ?? TargetThread.postingThread
            let token = ours.addObserver(forName: name, object: object, on: target) { _ in handler() }
            tokens.withLock { $0.append(token) }
            return { token.cancel() }
        }
    }

    /// Adds an observer, and returns the number of its calls.
    func addCounter(object: Any? = nil) -> () -> Int {
        let calls = Locked(0)
        addObserver(object: object) { calls.withLock { $0 += 1 } }
        return { calls.withLock { $0 } }
    }

    func post(_ name: Notification.Name = .test, object: Any? = nil) {
        switch side {
        case .foundation: foundation.post(name: name, object: object)
        case .ours: ours.post(name: name, object: object)
        }
    }
}

extension Notification.Name {
    /// The name in the documents' examples.
    static let test = Notification.Name("TestNotification")
}
