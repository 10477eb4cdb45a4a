internal import Foundation

// The latest notification for observers that are added later: see `ObserverOptions.receivesLatest`.

extension ThreadedNotificationCenter {
    /// Registers an observer. If it receives the latest notification of its name, that is retained from now on, and
    /// delivered to it.
    ///
    /// An observer on a thread is registered first: the thread decides at the delivery whether a newer one was
    /// delivered before. An observer on the posting thread is registered last, because newer ones are delivered to it
    /// on other threads at the same time. If a newer one is posted while its handler runs, it gets that one as well;
    /// after 100 of them, a handler that posts the name itself is registered.
    /// - Returns: sometimes all observers, which the caller should check for those that can never be called again.
    func register(_ observer: Observer) -> [Observer] {
        guard let name = observer.retainedName else { return change { $0.add(observer) } }
        change { $0.latest.retain(name) }
        var number: UInt64 = 0
        for round in 1... {
            let isLast = observer.isEnqueuedFor || round == 100
            var latest: LatestNotifications.Latest?
            let toCheck: [Observer]? = change { state in
                latest = state.latest.latest(of: name, after: number)
                return latest == nil || isLast ? state.add(observer) : nil
            }
            if let latest {
                deliver(latest, to: observer)
                number = latest.number
            }
            if let toCheck { return toCheck }
        }
        return []
    }

    private func deliver(_ latest: LatestNotifications.Latest, to observer: Observer) {
        let notification = latest.notification
        let object = NotificationObject(notification.object)
        guard observer.filter.isAny || observer.filter.matches(object) else { return }
        let post = Post(file: latest.post.file, line: latest.post.line, message: latest.post.message)
        if post.number != 0 {
            DeliveryEvent.trace(
                .capture, name: notification.name, post: post.number, count: 1, sender: object,
                relatedPost: latest.post.number)
        }
        ThreadContext.withCurrent { context in
            let posted = PostedNotification(notification)
            guard observer.isEnqueuedFor else {
                _ = context.deliver(posted, post, to: [observer])
                return
            }
            let value = observer.prepares ? observer.prepare(posted, post, context) : nil
            if observer.prepares, value == nil { return }
            var delivery = Delivery(.payload(value ?? posted), for: observer, post: post.number)
            delivery.isLatest = true
            _ = observer.enqueue(delivery, of: posted)
        }
    }
}
