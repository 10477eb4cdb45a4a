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
    ///
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
        self.sameThread = sameThread
        self.overflow = overflow
        self.receivesLatest = receivesLatest
    }
}
