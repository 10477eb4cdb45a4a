public import Foundation
internal import Synchronization

extension ThreadedNotificationCenter {
    /// Retains the latest notification of a name from now on, for observers that are added later.
    ///
    ///     center.retainLatest(of: .connectionChanged)
    ///
    /// An observer that is added for this name gets the retained notification, if its object and transform match, on
    /// its own thread. It is appended to the thread's mailbox, and the handler is not called by `addObserver`. An
    /// observer on the posting thread is the exception: its handler is called before `addObserver` returns. The
    /// transform is called by `addObserver`. Observers of any name do not get it.
    ///
    /// Threads: any.
    /// Order: an observer never gets the retained notification after a newer one. If a newer one was delivered to it
    /// first, the retained one counts as coalesced. An observer that is added while another thread posts gets the
    /// notification, the retained one, or both, and never neither. The exception is an observer on the posting thread
    /// whose handler always posts the name: it is registered before it gets the 100th, so that another thread may call
    /// it with a newer one first.
    /// Counters: for the observer it is a post like others, traced as a capture of the original post.
    /// Removal: `stopRetainingLatest(of:)`. A second call has no effect.
    /// Cost: the notification is retained with its object and userInfo until another one replaces it. Posts of this
    /// name take a lock; those of other names cost nothing more. On a center that captures a Foundation center the name
    /// is captured. For a type of messages, call `retainLatest(for:)`, which shares the retention of the type's name.
    public func retainLatest(of name: Notification.Name) {
        retainLatest(of: name, isCaptured: true)
    }

    func retainLatest(of name: Notification.Name, isCaptured: Bool) {
        // Before the name is retained, so that another thread that stops retaining it does not release it first.
        if isCaptured { capture?.retain(name.rawValue) }
        let isChanged = state.withLock { state in
            guard state.latest.retain(name.rawValue, isCaptured: isCaptured) else { return false }
            version.store(Self.newVersion(), ordering: .releasing)
            return true
        }
        if isCaptured, !isChanged { capture?.release(name.rawValue) }
    }

    /// Stops retaining the latest notification of a name, and releases it.
    ///
    /// Threads: any. An observer that another thread is adding may still get it. Without `retainLatest(of:)` it has no
    /// effect.
    public func stopRetainingLatest(of name: Notification.Name) {
        let removed = state.withLock { state in
            let removed = state.latest.stopRetaining(name.rawValue)
            if removed != nil { version.store(Self.newVersion(), ordering: .releasing) }
            return removed
        }
        if removed?.isCaptured == true { capture?.release(name.rawValue) }
    }

    /// The latest notification of a name that was posted since `retainLatest(of:)`; nil if there is none.
    ///
    /// Threads: any. The object and userInfo are shared with the posting code.
    /// Cost: a lock.
    public func latest(of name: Notification.Name) -> Notification? {
        state.withLock { $0.latest.latest(of: name.rawValue) }?.notification
    }

    /// Releases the latest notification of a name. The next one that is posted is retained again.
    ///
    /// Threads: any. An observer that another thread is adding may still get it.
    public func removeLatest(of name: Notification.Name) {
        let removed = state.withLock { $0.latest.removeLatest(of: name.rawValue) }
        withExtendedLifetime(removed) {}
    }

    // MARK: Adding an observer

    /// Registers an observer, and delivers the latest notification of its name to it if that is retained.
    ///
    /// An observer on a thread is registered first: the thread decides at the delivery whether a newer one was
    /// delivered before. An observer on the posting thread is registered last, because newer ones are delivered to it
    /// on other threads at the same time. If a newer one is posted while its handler runs, it gets that one as well.
    /// - Returns: sometimes all observers, which the caller should check for those that can never be called again.
    func register(_ observer: Observer) -> [[Observer?]] {
        state.lock()
        guard state.valueWhileLocked.latest.isEmpty else {
            state.unlock()
            return registerAfterLatest(observer)
        }
        let lists = registerWhileLocked(observer)
        state.unlock()
        return lists
    }

    private func registerWhileLocked(_ observer: Observer) -> [[Observer?]] {
        version.store(Self.newVersion(), ordering: .releasing)
        return state.valueWhileLocked.registry.add(
            observer, id: observer.id, key: observer.key, receiver: observer.receiver)
    }

    private func registerAfterLatest(_ observer: Observer) -> [[Observer?]] {
        var number: UInt64 = 0
        for round in 1... {
            let isLast = observer.mailbox != nil || round == Self.mostRounds
            state.lock()
            let latest = observer.name.flatMap {
                state.valueWhileLocked.latest.latest(of: $0.rawValue, after: number)
            }
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
