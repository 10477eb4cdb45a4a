/// A stage of a delivery, or an event around it.
///
///     register     post ─► capture ─► append ─► signal ─► drain ─► deliver ─► return     remove
///                                        └► coalesce, drop, cancel or targetGone
///
/// A posting queue comes before `post`: an enqueued notification is posted, or has the stage `coalesce`, `dequeue` or
/// `targetGone` without an observer. `capture` records notifications of Foundation centers. The document's technique
/// has `capture` and no `append`. A performed block has `append`, `deliver` and `return`, and no notification.
/// Foundation's own center has `post`, `deliver`, `return` and `postEnd`: it calls handlers during the post.
///
/// The raw value is the value of the key `stage` in a file.
public enum DeliveryStage: String, Sendable, Hashable, Encodable, CaseIterable {
    /// An observer was added.
    case register
    /// An observer was removed.
    case remove
    /// A notification was enqueued in a posting queue.
    case enqueue
    /// It was removed from a posting queue.
    case dequeue
    /// It was posted to a center, by a call or by a posting queue.
    case post
    /// An observer or a center received it from a Foundation center, on the posting thread.
    case capture
    /// It was enqueued in the mailbox of the target thread, for one observer.
    case append
    /// The port of the target thread was signalled.
    case signal
    /// The signal of the port was lost.
    case dropSignal
    /// The target thread drains its mailbox.
    case drain
    /// Outcome: the handler was called.
    case deliver
    /// The handler returned.
    case `return`
    /// A post to a Foundation center returned.
    case postEnd
    /// Outcome: a later notification replaced it.
    case coalesce
    /// Outcome: the overflow policy of the observer dropped it.
    case drop
    /// Outcome: its observer was removed.
    case cancel
    /// Outcome: its target thread has ended, was told to stop, or was never started.
    case targetGone
    /// A matching observer did not get it: its transform returned nil, or it was removed meanwhile.
    case skip
    /// The thread begins a wait. The message says what it waits for.
    case wait
    /// The wait has ended.
    case waitEnd
    /// A wait was refused because it would have closed a cycle. The message names the cycle.
    case refuseWait
    /// The thread ended.
    case threadEnd
    /// A line of output of the program, as the message.
    case log
    /// A child process began. The message says what it does.
    case processStart
    /// A child process ended.
    case processEnd
    /// The process forked. Its child records to a file of its own, which `notify-demo record` adds to the recording.
    case fork
    /// Records were lost; `count` is their number.
    case lost
    /// The recording ended. The reason is `exit`, `stopped` or a signal.
    case end

    /// True for the outcome of a notification for an observer. Each has at most one.
    public var isOutcome: Bool {
        self == .deliver || self == .coalesce || self == .drop || self == .cancel || self == .targetGone
    }
}
