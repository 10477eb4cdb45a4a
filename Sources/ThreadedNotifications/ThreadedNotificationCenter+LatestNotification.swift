internal import Foundation
internal import Synchronization

// The latest notification for observers that are added later: see `ObserverOptions.receivesLatest`.

extension ThreadedNotificationCenter {
    /// Registers an observer. If it receives the latest notification of its name, that is retained from now on, and
    /// delivered to it.
    ///
    /// An observer on a thread is registered first: the thread decides at the delivery whether a newer one was
    /// delivered before. An observer on the posting thread is registered last, because newer ones are delivered to it
    /// on other threads at the same time. If a newer one is posted while its handler runs, it gets that one as well.
    /// - Returns: sometimes all observers, which the caller should check for those that can never be called again.
    func register(_ observer: Observer) -> [[Observer?]] {
        state.lock()
        guard let name = observer.retainedName else {
            defer { state.unlock() }
            return registerWhileLocked(observer)
        }
        state.valueWhileLocked.latest.retain(name)
        version.store(Self.newVersion(), ordering: .releasing)
        state.unlock()
        return registerAfterLatest(observer, name)
    }

    private func registerWhileLocked(_ observer: Observer) -> [[Observer?]] {
        version.store(Self.newVersion(), ordering: .releasing)
        return state.valueWhileLocked.registry.add(
            observer, id: observer.id, key: observer.key, receiver: observer.receiver)
    }

    private func registerAfterLatest(_ observer: Observer, _ name: String) -> [[Observer?]] {
        var number: UInt64 = 0
        for round in 1... {
            let isLast = observer.mailbox != nil || round == Self.mostRounds
            state.lock()
            let latest = state.valueWhileLocked.latest.latest(of: name, after: number)
            let lists = latest == nil || isLast ? registerWhileLocked(observer) : nil
            state.unlock()
            if let latest {
                deliver(latest, to: observer)
                number = latest.number
            }
            if let lists { return lists }
        }
        return []
    }

    /// After this number of rounds a handler that posts the name itself is registered.
    private static let mostRounds = 100

    private func deliver(_ latest: LatestNotifications.Latest, to observer: Observer) {
        let notification = latest.notification
        guard observer.filter.isAny || observer.filter.matches(NotificationObject(notification.object)) else { return }
        latest.withMessage { deliver(notification, Post(at: latest.post.location, message: $0), latest, to: observer) }
    }

    private func deliver(
        _ notification: Notification, _ post: Post, _ latest: LatestNotifications.Latest, to observer: Observer
    ) {
        if post.number != 0 {
            DeliveryEvent.trace(
                .capture, name: notification.name, post: post.number, count: 1,
                sender: NotificationObject(notification.object), relatedPost: latest.post.number)
        }
        ThreadContext.withCurrent { context in
            if let mailbox = observer.mailbox {
                _ = mailbox.enqueueRetained(notification, post, for: observer, context)
            } else {
                _ = ObserverCall.runAtOnce(observer, with: notification, of: post, context)
            }
        }
    }
}
