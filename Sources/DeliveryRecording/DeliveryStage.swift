/// A stage in the way of a notification from its post to its handler, and what surrounds it.
///
///     register     post ─► capture ─► append ─► signal ─► drain ─► deliver ─► return     remove
///                                        └► coalesce, drop, cancel or targetGone instead
///
/// The document's technique has no `append`: there an observer captures and holds; a `ThreadedNotificationCenter` captures
/// only what is posted to a Foundation center. A posting queue comes before `post`: what is enqueued is posted, or
/// meets `coalesce`, `dequeue` or `targetGone` there, of no observer. A block that is performed has `append`, `deliver` and `return`, and no
/// notification. The raw value is what a recording's file has.
public enum DeliveryStage: String, Sendable, Hashable, Encodable, CaseIterable {
    /// An observer was added.
    case register
    /// An observer was removed.
    case remove
    /// A notification was handed to a posting queue.
    case enqueue
    /// It was taken out of a posting queue.
    case dequeue
    /// A notification was handed to a center, or comes out of a posting queue.
    case post
    /// It arrived at an observer, or at a center that redirects, on the posting thread.
    case capture
    /// It is handed to the target thread's mailbox, for one observer.
    case append
    /// The port of the target thread was signalled.
    case signal
    /// The port lost the signal.
    case dropSignal
    /// The target thread looks into its queue.
    case drain
    /// Fate: the handler was called.
    case deliver
    /// The handler returned.
    case `return`
    /// Fate: a later one took its place.
    case coalesce
    /// Fate: dropped by the observer's overflow policy.
    case drop
    /// Fate: its observer was removed.
    case cancel
    /// Fate: its target thread ended, or took nothing any more.
    case targetGone
    /// It is not for this observer after all: its mapping made nothing of it, or it was removed meanwhile.
    case skip
    /// The thread begins to wait for others; the message says for what.
    case wait
    /// It waits no longer.
    case waitEnd
    /// A wait that would have closed a cycle was refused; the message says which.
    case refuseWait
    /// The thread ended.
    case threadEnd
    /// What the library counts for an observer, or for a posting queue; the message says it.
    case count
    /// The program said something: a line of the documents' logs.
    case log
    /// A child process began; the message says what it does.
    case processStart
    /// A child process ended; the message says how.
    case processEnd
    /// The process made a copy of itself, which is not recorded here.
    case fork
    /// So many records could not be kept.
    case lost
    /// The recording ended; the message says how: `exit`, `stopped` or `signal 11`.
    case end

    /// Whether it is what becomes of a notification for an observer, once.
    public var isOutcome: Bool {
        switch self {
        case .deliver, .coalesce, .drop, .cancel, .targetGone: true
        case .register, .remove, .enqueue, .dequeue, .post, .capture, .append, .signal, .dropSignal, .drain, .return,
            .skip, .wait, .waitEnd, .refuseWait, .threadEnd, .count, .log, .processStart, .processEnd, .fork, .lost,
            .end:
            false
        }
    }
}
