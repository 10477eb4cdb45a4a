/// The options of an observer.
public struct ObserverOptions: Sendable {
    /// How a notification is delivered that is posted on the target thread (guarantee 2).
    public var sameThread: SameThreadPolicy
    /// The number of notifications that may wait, and the handling of more (guarantee 12).
    public var overflow: OverflowPolicy
    /// True if the observer gets, when it is added, the latest notification of its name that was posted since the first
    /// observer of that name with this option was added.
    ///
    ///     let options = ObserverOptions(receivesLatest: true)
    ///     let keeping = center.addObserver(forName: name, on: .postingThread, options: options) { _ in }
    ///     center.post(name: name, object: "online")
    ///     let late = center.addObserver(forName: name, on: worker, options: options) { … }   // gets "online"
    ///
    /// The center retains the latest notification of the name, with its object and userInfo, while it has such an
    /// observer. It is appended to the thread's mailbox, if the observer's object and transform match; an observer on
    /// the posting thread is called before `addObserver` returns. The transform is called by `addObserver`. For an
    /// observer of any name the option has no effect.
    /// Order: an observer never gets the retained notification after a newer one. If a newer one was delivered to it
    /// first, the retained one counts as coalesced. An observer that is added while another thread posts gets the
    /// notification, the retained one, or both, and never neither. The exception is an observer on the posting thread
    /// whose handler always posts the name: it is registered before it gets the 100th, so that another thread may call
    /// it with a newer one first.
    /// Counters: for the observer it is a post like others, traced as a capture of the original post.
    /// Cost: while a center has such an observer, each of its posts takes a second lock.
    public var receivesLatest: Bool

    /// Creates options. By default, notifications are delivered in order, any number may wait, and the observer gets
    /// what is posted after it was added.
    public init(
        sameThread: SameThreadPolicy = .ordered, overflow: OverflowPolicy = .unbounded, receivesLatest: Bool = false
    ) {
        (self.sameThread, self.overflow, self.receivesLatest) = (sameThread, overflow, receivesLatest)
    }
}

/// How a notification is delivered that is posted on its target thread. What other threads post always waits in the
/// thread's mailbox.
public enum SameThreadPolicy: Sendable, Hashable {
    /// It is delivered before `post` returns, in any run loop mode, if no other delivery waits there. Otherwise it is
    /// appended to the mailbox, and delivered when the run loop runs in a common mode. It is also appended if
    /// deliveries are nested more than 100 deep, so that a handler that posts to itself neither overflows the stack nor
    /// blocks the run loop.
    case ordered
    /// It is always delivered before `post` returns, and may overtake what waits: the document's rule. Nested 250 deep
    /// it stops the program.
    case atOnce
    /// It is always appended to the mailbox, and delivered when the run loop next delivers. The handler is never called
    /// before `post` returns, so a post in the middle of a change cannot re-enter the code that makes the change.
    ///
    /// The same as a queued connection in Qt, `ThreadMode.MAIN_ORDERED` in EventBus, and `Handler.post` in Android.
    /// While it waits, later posts for ordered observers of the thread wait too, so that they do not overtake it.
    /// `postAndWait` does not wait for it on the observer's own thread. An observer on `.postingThread` has no mailbox:
    /// adding it with this policy stops the program.
    case later
}

/// The handling of notifications for an observer that is slower than the posting threads.
///
/// A capacity is the number of notifications that may wait for the observer. Less than 1 stops the program. A dropped
/// notification is counted in `ObserverToken.counters`, reported by `post` and traced; `postAndWait` throws.
public struct OverflowPolicy: Sendable, Hashable {
    enum Rule: String {
        case unbounded, dropOldest, dropNewest, keepLatest, refuse
    }

    let rule: Rule
    package let capacity: Int?
    /// The value of `policy` in a record.
    package var kind: String { rule.rawValue }

    private init(_ rule: Rule, capacity: Int? = nil) {
        precondition(
            capacity ?? 1 > 0, "OverflowPolicy: a capacity of \(capacity ?? 0) holds nothing. It must be at least 1.")
        (self.rule, self.capacity) = (rule, capacity)
    }

    /// Any number may wait.
    public static let unbounded = OverflowPolicy(.unbounded)
    /// One notification waits for each name and object. A new one replaces it, at the end of the mailbox. Objects are
    /// compared as for observers; an object that cannot be compared replaces nothing.
    public static let keepLatest = OverflowPolicy(.keepLatest)
    /// The oldest waiting notification is dropped for the new one.
    public static func dropOldest(capacity: Int) -> OverflowPolicy { OverflowPolicy(.dropOldest, capacity: capacity) }
    /// The new notification is dropped.
    public static func dropNewest(capacity: Int) -> OverflowPolicy { OverflowPolicy(.dropNewest, capacity: capacity) }
    /// The new notification is dropped, with the outcome `refused`.
    public static func refuse(capacity: Int) -> OverflowPolicy { OverflowPolicy(.refuse, capacity: capacity) }
}
