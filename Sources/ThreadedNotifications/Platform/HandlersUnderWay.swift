/// The handlers and blocks that run on one thread, each in the middle of the one before.
///
/// In memory of its own and not on the stack, because a handler may call `Thread.exit()`, and then its stack is gone while
/// the thread still has to tell what ran on it.
struct HandlersUnderWay {
    private struct Handler {
        /// Nil for a block. Whoever calls the handler retains it, also if the thread ends in it.
        var registration: Unmanaged<Registration>?
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
    mutating func begin(_ registration: Registration?, _ wait: DeliveryWait?) {
        if count == capacity { grow() }
        handlers[count] = Handler(
            registration: registration.map { .passUnretained($0) }, wait: wait.map { .passRetained($0) })
        count += 1
    }

    /// The innermost has returned.
    @inline(__always)
    mutating func end() {
        count -= 1
        handlers[count].wait?.release()
    }

    /// The thread ends: the innermost will not return.
    mutating func removeInnermost() -> (registration: Registration?, wait: DeliveryWait?)? {
        guard count > 0 else { return nil }
        count -= 1
        let handler = handlers[count]
        return (handler.registration?.takeUnretainedValue(), handler.wait?.takeRetainedValue())
    }

    /// Those whose handlers run, the innermost last.
    var registrations: [Registration] {
        UnsafeBufferPointer(start: handlers, count: count).compactMap { $0.registration?.takeUnretainedValue() }
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
