/// An observer's registration: removes it, and tells what became of what was posted for it.
///
/// Dropping the last reference removes the observer, but for one that was added as an object: there the
/// object's going does. A token belongs to the center that it came from and has no effect on another.
///
/// Threads: everything may be called on any thread.
public final class ObserverToken: Sendable {
    let registration: Registration
    private let center: ThreadedNotificationCenter
    private let whenRemoved: (@Sendable () -> Void)?

    init(_ registration: Registration, of center: ThreadedNotificationCenter) {
        self.registration = registration
        self.center = center
        whenRemoved = nil
    }

    /// A token for the same registration, to be given away while the other is kept until this has removed it.
    ///
    /// - Parameter whenRemoved: called by who removes it with this token, once.
    package init(_ kept: ObserverToken, whenRemoved: @escaping @Sendable () -> Void) {
        registration = kept.registration
        center = kept.center
        self.whenRemoved = whenRemoved
    }

    deinit {
        if registration.isKeptByToken { cancel() }
    }

    /// Whether the observer was added to this center.
    package func isOf(_ center: ThreadedNotificationCenter) -> Bool { self.center === center }

    /// The observer's number in this process, from 1; never used again. Events and errors name it.
    public var id: UInt64 { registration.id }

    /// What became of what was posted for this observer, as of now. What waits for a removed observer is pending until
    /// its thread comes to it.
    public var counters: DeliveryCounters { registration.counters }

    /// Removes the observer (guarantee 6): when it returns, no delivery begins any more; one that is under way goes on.
    /// What waits is not delivered, and counted as cancelled. Cancelling twice is cancelling once.
    ///
    /// Cost: does not depend on what waits. After a post of the same name and object the list of their observers is
    /// copied once; else the cost grows with the logarithm of their number.
    public func cancel() {
        if center.remove(registration) { whenRemoved?() }
    }

    /// Removes the observer and waits until its handler runs on no other thread. Called in the handler itself it does not
    /// wait for that call.
    /// - Parameters:
    ///   - timeout: the longest wait; negative counts as zero. The observer is removed in any case.
    ///   - file: the caller's; errors name it.
    ///   - line: the caller's; errors name it.
    /// - Throws: `DeliveryError.handlerStillRunning`, or `.waitWouldDeadlock` if the handler waits for the calling thread.
    @available(*, noasync, message: "it blocks the thread; use cancel()")
    public func cancelAndWait(
        timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) {
        cancel()
        try registration.waitUntilHandlersReturned(timeout: timeout, at: SourceLocation(file, line))
    }
}
