public import Foundation
internal import Synchronization

extension ThreadedNotificationCenter {
    /// True if a post with this name and object would match an observer of this center now. It saves making a
    /// payload without observers:
    ///
    ///     if center.hasObservers(of: .progress) { center.post(name: .progress, userInfo: makeReport()) }
    ///
    /// It is also true if the latest notification of the name is retained. Another thread may add an observer before the
    /// post, and a transform may still return nil. Observers that were added to the captured Foundation center do not
    /// count.
    ///
    /// Threads: any.
    /// Cost: that of finding the observers of a post. A thread that posts the name, or asks again, takes no lock.
    public func hasObservers(of name: Notification.Name, object: Any? = nil) -> Bool {
        ThreadContext.withCurrent { context in
            if let found = context.cache.find(name, of: number, version: version.load(ordering: .acquiring)) {
                defer { found.giveBack() }
                return found.observers.count > 0
            }
            let matching = observers(
                matching: Notification(name: name), NotificationObject(object), .all, of: nil)
            if let version = matching.version {
                context.cache.keep(matching.observers, of: name, of: number, version: version)
            }
            return matching.isRetained || matching.observers.contains { $0 != nil }
        }
    }

    /// The observers of this center, in the order in which they were added, for debugging.
    ///
    ///     for observer in center.observers { print(observer) }
    ///
    /// Threads: any.
    /// Cost: all observers are sorted while the center is locked.
    public var observers: [ObserverDescription] {
        state.withLock { $0.registry.all }.filter { !$0.hasLostItsObject }.map(ObserverDescription.init)
    }
}
