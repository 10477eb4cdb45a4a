/// The state of a mailbox that only its target thread sees. It is in that thread's `ThreadContext`.
struct DrainState {
    /// The deliveries that drains have taken and not made yet.
    var taken = TakenDeliveries<Delivery, RoomWaiter>()
    var servedModes = ServedModes()
    /// Wakes the thread for queue 0; nil if the sources of the queues do that.
    var event: MailboxEvent?
    /// The queue whose source was called for the last drain, if its budget was spent. The source is signalled, to
    /// continue.
    var continuingQueue: Int?
    /// The number of drains under way, each nested in a handler of the one before.
    var depth = 0
    /// When drains should end, in nanoseconds; 0: there is no time. See `ServedThread.drainDeadline`.
    var deadline: UInt64 = 0
    var burstDetector = BurstDetector()
    /// Nil: the thread sleeps as soon as everything is delivered.
    var spinner: Spinner?
    var jobs = ActorJobs()
}
