/// One thing that waits: an observer and what it gets, or something for the thread itself.
//
// Safety: the observer is retained by the queue that has the delivery: see `PendingDeliveries`. A mark is called on the
// thread that enqueued it. Everything else is Sendable.
struct Delivery: @unchecked Sendable {
    enum Content {
        case payload(Payload)
        /// The delivery is with the bounded observer, under this number.
        case ticket(BoundedDeliveries.Number)
        case block(@Sendable () -> Void)
        /// A block that a thread waits for, or that can be cancelled.
        case performed(PerformedBlock)
        case job(UnownedJob, RunLoopThread)
        /// Called when everything before it was delivered. It is no delivery.
        case mark(() -> Void)
        case nothing
    }

    /// Nil: the content is for the thread itself. Not counted, because two threads that count the references of one
    /// object delay each other.
    private(set) var observer: Unmanaged<Observer>?
    var content: Content
    /// True if the center retained the notification: newer ones, which may come before, make it obsolete.
    var isLatest = false
    /// The number of the post in events; 0 if nothing traced.
    var post: UInt64 = 0
    /// The call that waits for the delivery.
    var wait: DeliveryWait?

    init(_ content: Content, for observer: Observer? = nil, post: UInt64 = 0, wait: DeliveryWait? = nil) {
        self.observer = observer.map { .passUnretained($0) }
        (self.content, self.post, self.wait) = (content, post, wait)
    }

    static var nothing: Delivery { Delivery(.nothing) }

    var isMark: Bool { if case .mark = content { true } else { false } }

    /// True for a ticket whose delivery the bounded observer gave up.
    var isStaleTicket: Bool {
        guard case .ticket(let number) = content else { return false }
        return withObserver { $0.holds(number) } == false
    }

    /// Calls `body` with the observer, which the queue retains.
    /// - Returns: nil if there is none.
    @inline(__always)
    func withObserver<Result>(_ body: (Observer) -> Result) -> Result? {
        observer?._withUnsafeGuaranteedRef(body)
    }
}
