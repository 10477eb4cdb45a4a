package import Foundation

/// Observers of values that were matched elsewhere, such as distributed notifications, which the server matches, and
/// ends of threads.
///
/// Values go the way of notifications.
/// Threads: every method may be called on any thread.
/// Order: that of a post (guarantees 4 and 5), to the observers in the order of the list.
/// Removal: by token, as for `ThreadedNotificationCenter`.
package final class ValueObservers: Sendable, ObserverOwner {
    /// An observer as `deliver` takes it.
    package struct Handle: Sendable {
        let observer: Observer

        /// `ObserverToken.id`.
        package var id: UInt64 { observer.id }
    }

    /// Observers that get the same values.
    package struct Group: Sendable {
        fileprivate let observers: [Observer]

        package init(_ handles: [Handle]) { observers = handles.map(\.observer) }
    }

    private let observers = Locked<[ObserverID: Observer]>([:])
    private let whenRemoved: @Sendable (_ id: UInt64) -> Void

    /// - Parameter whenRemoved: called once for each observer that a token removes, on the thread that removes it.
    package init(whenRemoved: @escaping @Sendable (_ id: UInt64) -> Void = { _ in }) {
        self.whenRemoved = whenRemoved
    }

    package var isEmpty: Bool { observers.withLock { $0.isEmpty } }

    /// Adds an observer.
    /// - Parameters:
    ///   - name: the name that the observer asks for elsewhere, for events.
    ///   - handler: the handler and its thread.
    package func add<Value: Sendable>(
        named name: Notification.Name?, options: ObserverOptions, at location: SourceLocation,
        using handler: ValueHandler<Value>
    ) -> (token: ObserverToken, handle: Handle) {
        let observer = Observer(
            name: name, object: .none, options: options, handler: .values(handler),
            location: location)
        DeliveryEvent.trace(
            .register, name: name, observer: observer.id, target: observer.mailbox?.identity, location: location)
        observers.withLock { $0[observer.id] = observer }
        return (ObserverToken(observer, of: self), Handle(observer: observer))
    }

    /// Delivers a value to observers, in the order of the group. Its name and object are those of events and of the
    /// policy `keepLatest`.
    /// - Parameter origin: see `DeliveryEvent`.
    package func deliver(_ value: Payload, to group: Group, origin: @autoclosure () -> String? = nil) {
        let post = Post(file: "DistributedNotifications", line: 0)
        if post.number != 0 {
            DeliveryEvent.trace(
                .capture, name: value.name, post: post.number, count: group.observers.count, origin: origin())
        }
        ThreadContext.withCurrent { context in
            _ = context.deliver(value, post, to: group.observers)
        }
    }

    /// Delivers a value to all observers, in the order in which they were added.
    package func deliverToAll(_ value: Payload) {
        let all = observers.withLock { $0.values.sorted { $0.id < $1.id } }
        deliver(value, to: Group(all.map(Handle.init)))
    }

    /// True if a token is of one of these observers.
    package func own(_ token: ObserverToken) -> Bool { token.isOf(self) }

    package func removeAll() {
        for observer in observers.withLock({ Array($0.values) }) { remove(observer, .cancelled) }
    }

    @discardableResult
    func remove(_ observer: Observer, _ reason: DeliveryEvent.Reason?) -> Bool {
        let running = observer.cancel()
        guard observers.withLock({ $0.removeValue(forKey: observer.id) }) != nil else { return false }
        DeliveryEvent.trace(
            .remove, name: observer.name, observer: observer.id, target: observer.mailbox?.identity, count: running,
            reason: reason)
        whenRemoved(observer.id)
        return true
    }
}
