/// The handlers and blocks that run on one thread, each nested in the one before.
///
/// They are in memory of their own and not on the stack: a handler may call `Thread.exit()`, which discards its stack,
/// and the end of the thread must still settle what ran.
struct HandlersUnderWay {
    private struct Handler {
        /// Nil for a block. The caller of the handler retains it, also if the thread ends in the handler.
        var observer: Unmanaged<Observer>?
        /// Retained here.
        var wait: Unmanaged<DeliveryWait>?
    }

    private var handlers: UnsafeMutablePointer<Handler>
    private var capacity = 8
    private var count = 0

    init() {
        handlers = .allocate(capacity: capacity)
    }

    func deallocate() {
        handlers.deallocate()
    }

    @inline(__always)
    mutating func begin(_ observer: Observer?, _ wait: DeliveryWait?) {
        if count == capacity { grow() }
        handlers[count] = Handler(
            observer: observer.map { .passUnretained($0) }, wait: wait.map { .passRetained($0) })
        count += 1
    }

    /// The innermost handler has returned.
    @inline(__always)
    mutating func end() {
        count -= 1
        handlers[count].wait?.release()
    }

    /// Removes the innermost handler when the thread ends: it will not return.
    mutating func removeInnermost() -> (observer: Observer?, wait: DeliveryWait?)? {
        guard count > 0 else { return nil }
        count -= 1
        let handler = handlers[count]
        return (handler.observer?.takeUnretainedValue(), handler.wait?.takeRetainedValue())
    }

    /// The observers of the handlers that run, the innermost last.
    var observers: [Observer] {
        UnsafeBufferPointer(start: handlers, count: count).compactMap { $0.observer?.takeUnretainedValue() }
    }

    @inline(never)
    private mutating func grow() {
        let grown = UnsafeMutablePointer<Handler>.allocate(capacity: 2 * capacity)
        grown.moveInitialize(from: handlers, count: count)
        handlers.deallocate()
        handlers = grown
        capacity *= 2
    }
}
