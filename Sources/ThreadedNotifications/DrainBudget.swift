/// How much a drain of a thread's mailbox may deliver before it returns to the run loop.
///
///     MainThread.main.drainBudget = .time(.milliseconds(4))
///     worker.drainBudget = .deliveries(100)
///
/// When the budget is spent, the run loop calls its due timers and signalled sources, and then continues with the rest,
/// in order. A handler that has begun is never interrupted, and each drain makes at least one delivery. Each
/// notification for one observer, each block and each job of an actor is a delivery; what is settled without a call
/// does not count. Jobs that became ready while another job waited or ran the run loop belong to its delivery.
///
/// The main thread has a budget of 8 ms at first, so that a flood of notifications does not delay its timers and input.
/// Other threads have none.
/// Cost: a drain with a time reads the clock once for each delivery.
public struct DrainBudget: Sendable, Hashable {
    /// The number of deliveries; nil: any number.
    public let deliveries: Int?
    /// The time that may have passed since the first delivery when another one begins; nil: any time.
    public let time: Duration?

    /// Creates a budget. It is spent when either limit is reached: a number of deliveries, at least 1, or a time, of
    /// which a negative one counts as zero.
    public init(deliveries: Int? = nil, time: Duration? = nil) {
        precondition(
            deliveries ?? 1 >= 1, "DrainBudget: \(deliveries ?? 0) deliveries deliver nothing. It must be at least 1.")
        (self.deliveries, self.time) = (deliveries, time.map { max($0, .zero) })
    }

    /// A drain delivers everything that waited when it began.
    public static let unbounded = DrainBudget()
    /// A number of deliveries, at least 1.
    public static func deliveries(_ count: Int) -> DrainBudget { DrainBudget(deliveries: count) }
    /// A time.
    public static func time(_ time: Duration) -> DrainBudget { DrainBudget(time: time) }
    /// The main thread's budget at first: half of the time between two frames at 60 Hz.
    static let ofMain = time(.milliseconds(8))
}

extension DeliveryTarget {
    /// How much a drain of this thread's mailbox may deliver before it returns to the run loop; 8 ms on the main thread
    /// at first, and unbounded on other threads. Of `.postingThread`, it is the calling thread's.
    ///
    /// A new budget is used from the next drain on. It has no effect on what is delivered outside a drain of the run
    /// loop: a call that waits and delivers meanwhile, and the last drain of a thread that stops, deliver everything.
    /// Threads: any.
    public var drainBudget: DrainBudget {
        get { mailboxWithBudget.state.withLock { $0.drainBudget } }
        nonmutating set { mailboxWithBudget.state.withLock { $0.drainBudget = newValue } }
    }

    private var mailboxWithBudget: Mailbox { targetThread.mailbox ?? ThreadContext.current.mailbox }
}
