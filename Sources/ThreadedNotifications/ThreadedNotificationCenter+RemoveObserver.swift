public import Foundation

extension ThreadedNotificationCenter {
    /// Removes every observer that was added as this object, as `ObserverToken.cancel()` does. An object without
    /// observers has no effect.
    ///
    /// Threads: any. The object is not retained, so that its `deinit` may call this.
    /// Removal: after it returns, no handler of the object begins (guarantee 6). A handler that runs continues, and may
    /// be the caller.
    /// Cost: a look-up, and that of `ObserverToken.cancel()` for each of the object's observers.
    public func removeObserver(_ observer: AnyObject) {
        removeObserver(observer, name: nil)
    }

    /// Removes the observers that were added as this object with this name and object.
    ///
    ///     center.removeObserver(self, name: .windowWillClose)
    ///
    /// Threads, removal and cost are those of `removeObserver(_:)`. A hashable value is compared on this thread.
    /// - Parameters:
    ///   - observer: the object that was added.
    ///   - name: the name that the observers asked for; nil: every name.
    ///   - object: the object that the observers asked for; nil: every object.
    public func removeObserver(_ observer: AnyObject, name: Notification.Name?, object: Any? = nil) {
        let object = object.map { NotificationObject($0) }
        let added: [Observer]
        if let token = observer as? ObserverToken {
            added = token.isOf(self) ? [token.observer] : []
        } else {
            let receiver = UInt(bitPattern: Unmanaged.passUnretained(observer).toOpaque())
            added = state.withLock { $0.registry.observers(ofReceiver: receiver) }
        }
        for one in added where name == nil || one.name == name {
            if let object, !one.filter.asksFor(object) { continue }
            remove(one, .cancelled)
        }
    }

    /// Removes an observer, as `ObserverToken.cancel()` does. A token of another center has no effect.
    public func removeObserver(_ token: ObserverToken) {
        if token.isOf(self) { token.cancel() }
    }
}
