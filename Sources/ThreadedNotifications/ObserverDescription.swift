public import Foundation

/// An observer as ``ThreadedNotificationCenter/observers`` describes it, for debugging. It does not retain the
/// observer.
public struct ObserverDescription: Sendable {
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
}

extension ObserverDescription: CustomStringConvertible {
    /// `observer 3 of DishReady on main, kitchen/main.swift:16; 6: delivered 6`.
    public var description: String {
        let sender = object.map { " with object \($0.type)" } ?? ""
        return "observer \(id) of \(name?.rawValue ?? "any name")\(sender) on \(threadName), \(location); \(counters)"
    }
}
