internal import Foundation

/// Calls async handlers, and settles their outcomes: as `ObserverCall`, in a task.
///
/// A delivery has its outcome when the handler has returned. The handler may return on another thread than the one on
/// which it began, so that both are traced there, one after the other.
enum AsyncCall {
    /// Delivers what was enqueued, unless the observer was removed.
    static func run(_ delivery: Delivery, in drain: TaskDrain) async {
        guard let observer = delivery.retainedObserver else { return }
        guard delivery.begins(for: observer) else { return ObserverCall.resolve(observer, .coalesced, delivery) }
        guard let handler = observer.begin() else { return ObserverCall.resolve(observer, .cancelled, delivery) }
        drain.isCalling = true
        await call(handler, with: delivery.value)
        observer.counters.countDelivered()
        trace(observer, delivery)
        observer.end()
        drain.isCalling = false
        // Last: the handler is released before a waiting poster continues.
        delivery.wait?.resolve(observer.id, .delivered)
    }

    /// When it returns, the handler is no longer retained here.
    private static func call(_ handler: Unmanaged<ObserverHandler>, with value: Any?) async {
        guard case .async(let handler) = handler.takeUnretainedValue().kind, let value else {
            Delivery.isOfWrongType(value)
        }
        await handler.handle(value)
    }

    private static func trace(_ observer: Observer, _ delivery: Delivery) {
        guard DeliveryEvent.isWatched else { return }
        let name = delivery.name(for: observer)
        DeliveryEvent.trace(
            .deliver, name: name, post: delivery.post, observer: observer.id, target: observer.mailbox?.identity)
        DeliveryEvent.trace(.return, name: name, post: delivery.post, observer: observer.id)
    }
}
