/// A stage in the way of a notification from its post to its handler, and what surrounds it.
///
///     register     post ─► capture ─► signal ─► drain ─► deliver
public enum DeliveryStage: String, Sendable, Hashable, Codable, CaseIterable {
    /// An observer was added.
    case register
    /// A notification was handed to a center.
    case post
    /// It arrived at an observer, on the posting thread.
    case capture
    /// The port of the target thread was signalled.
    case signal
    /// The port lost the signal.
    case dropSignal
    /// The target thread looks into its queue.
    case drain
    /// The handler was called.
    case deliver
    /// The program said something: a line of the documents' logs.
    case log
    /// A child process began; the message says what it does.
    case processStart
    /// A child process ended; the message says how.
    case processEnd
}
