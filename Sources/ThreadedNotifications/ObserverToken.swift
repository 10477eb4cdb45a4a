public import Foundation

/// Represents an observer: removes it, and has its counters.
///
/// Releasing the last reference removes the observer. A token has no effect on other centers.
/// Threads: any.
public final class ObserverToken: Sendable, CustomStringConvertible {
    let observer: Observer
    private let owner: any ObserverOwner

    init(_ observer: Observer, of owner: any ObserverOwner) { (self.observer, self.owner) = (observer, owner) }

    deinit { if observer.isRemovedWithToken, !observer.isCancelled { owner.remove(observer, .released) } }

    func isOf(_ owner: any ObserverOwner) -> Bool { self.owner === owner }

    /// The observer's number in this process, from 1; never used again. Events and errors contain it.
    public var id: UInt64 { observer.id }

    /// The outcomes of the notifications posted for this observer so far. Those that wait for a removed observer count
    /// as waiting until its thread drains its mailbox.
    public var counters: DeliveryCounters { observer.counters.read() }

    /// Removes the observer (guarantee 6). When it returns, no handler begins; a handler that runs continues.
    /// Waiting notifications are not delivered, and count as cancelled. A second call has no effect.
    ///
    /// Cost: grows with the logarithm of the number of observers of the same name and object, and with the number of
    /// calls that wait; independent of the number of notifications that wait.
    public func cancel() { owner.remove(observer, .cancelled) }

    /// Removes the observer and waits until its handler runs on no other thread. In the handler itself it does not wait
    /// for that call.
    /// - Parameter timeout: the longest wait; negative counts as zero. The observer is removed in any case.
    /// - Throws: `DeliveryError` with the code `handlerStillRunning`, or `waitWouldDeadlock` if the handler waits for
    ///   the calling thread.
    @available(*, noasync, message: "it blocks the thread; use await")
    public func cancelAndWait(timeout: Duration, file: String = #fileID, line: Int = #line) throws(DeliveryError) {
        cancel()
        try observer.waitUntilHandlersReturned(timeout: timeout, at: SourceLocation(file, line))
    }

    /// Removes the observer and suspends the task until its handler runs on no thread. It blocks no thread.
    ///
    /// A task has no thread of its own, so the call finds no deadlock: if the handler waits for this task, it ends
    /// after the timeout.
    /// - Throws: `DeliveryError` with the code `handlerStillRunning`, or `CancellationError` if the task is cancelled.
    public func cancelAndWait(timeout: Duration) async throws {
        cancel()
        try await observer.waitUntilHandlersReturned(timeout: timeout)
    }

    /// As ``ObserverDescription``: `observer 3 of DishReady on main, kitchen/main.swift:16; 6: delivered 6`.
    public var description: String { ObserverDescription(observer).description }
}

/// An observer as ``ThreadedNotificationCenter/observers`` describes it, for debugging. It does not retain the
/// observer.
public struct ObserverDescription: Sendable, CustomStringConvertible {
    /// `ObserverToken.id`.
    public var id: UInt64
    /// The name that it asks for; nil: any.
    public var name: Notification.Name?
    /// The object that it asks for; nil: any, or an object that was deallocated.
    public var object: DeliveryEvent.Sender?
    /// The target thread; nil: it handles on the posting thread, or the thread has not started.
    public var thread: ThreadIdentity?
    /// The name of the target thread: `main`, `worker`, `thread 3` or `the posting thread`.
    public var threadName: String
    /// Its options.
    public var options: ObserverOptions
    /// The outcomes of the notifications posted for it so far.
    public var counters: DeliveryCounters
    /// Where it was added.
    public var location: SourceLocation

    init(_ observer: Observer) {
        id = observer.id
        name = observer.name
        object = observer.filter.object.sender
        thread = observer.mailbox?.identity
        threadName =
            observer.mailbox.map { mailbox in
                mailbox.threadName ?? mailbox.identity.map { $0.name ?? "thread \($0.number)" } ?? "a thread"
            } ?? "the posting thread"
        options = observer.options
        counters = observer.counters.read()
        location = observer.location
    }

    /// `observer 3 of DishReady on main, kitchen/main.swift:16; 6: delivered 6`.
    public var description: String {
        let sender = object.map { " with object \($0.type)" } ?? ""
        return "observer \(id) of \(name?.rawValue ?? "any name")\(sender) on \(threadName), \(location); \(counters)"
    }
}
