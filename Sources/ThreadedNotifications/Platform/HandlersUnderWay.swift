/// The handlers and blocks that run on one thread, each nested in the one before.
///
/// They are not only on the stack: a handler may call `Thread.exit()`, which discards its stack, and the end of the thread
/// must still settle what ran.
struct HandlersUnderWay {
    private struct Handler {
        /// Nil for a block. The queue or the cursor that has the delivery retains it.
        var observer: Unmanaged<Observer>?
        var wait: DeliveryWait?
        /// The observer, if the queue has given it up meanwhile.
        var retained: Observer?
    }

    private var handlers: [Handler] = []

    mutating func begin(_ observer: Observer?, _ wait: DeliveryWait?) {
        handlers.append(Handler(observer: observer.map { .passUnretained($0) }, wait: wait))
    }

    /// The innermost handler has returned.
    /// - Returns: its observer, if the queue has given it up: perhaps the last reference.
    @discardableResult
    mutating func end() -> Observer? { handlers.removeLast().retained }

    /// The thread ends, and the innermost handler will not return.
    mutating func takeInnermost() -> (observer: Observer?, wait: DeliveryWait?)? {
        handlers.popLast().map { ($0.observer?.takeUnretainedValue(), $0.wait) }
    }

    /// Retains the observers of the handlers. A drain that is nested in them takes the next batch, and the queue no longer
    /// retains those of the last one.
    mutating func retainObservers() {
        var index = handlers.count - 1
        while index >= 0, handlers[index].retained == nil {
            handlers[index].retained = handlers[index].observer?.takeUnretainedValue()
            index -= 1
        }
    }

    /// The observers of the handlers that run, the innermost last.
    var observers: [Observer] { handlers.compactMap { $0.observer?.takeUnretainedValue() } }
}
