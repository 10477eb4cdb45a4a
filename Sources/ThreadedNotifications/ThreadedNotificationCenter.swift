public import Foundation
internal import Synchronization

/// A notification center in which each observer chooses the thread on which it handles. It generalises Apple's document
/// "Delivering Notifications To Particular Threads" as its last paragraph asks: many observers, and one mailbox for
/// each thread.
///
///     let token = ThreadedNotificationCenter.default.addObserver(forName: name, on: .main) { notification in
///         …   // on the main thread, whichever thread posts
///     }
///
///     post ─► capture ─► mailbox ─► signal ─► run loop ─► drain ─► handler
///
/// Threads: every method may be called on any thread. A handler runs on its target thread and on no other (guarantee
/// 1).
/// Order: what one thread posts reaches an observer in the order posted (4). Observers of one notification on one
/// thread are called in the order in which they were added (5). Between posting threads there is no order. `post` hands
/// over to other threads before it calls handlers on its own thread, so that what these post does not overtake.
/// Removal: by token; see `ObserverToken` (6, 7). Keep the token: releasing it removes the observer, and `_ =
/// center.addObserver(…)` removes it at once. An observer that is added or removed during a post does not get that
/// notification, unless it has got it already. Handlers for the main thread, the current thread and an object are
/// released on their thread.
/// Matching: by name and object; nil is any. An object is compared by identity and not retained. A hashable value is
/// compared by equality, on the posting threads. Any other value stops the program.
/// Values: without a transform, the handler gets the notification, and its object and userInfo are used on the target
/// thread too. A transform is called on the posting thread; its value, which is `Sendable`, is what the handler gets.
/// If it returns nil, the observer does not get the notification.
/// Messages: an observer of a `NotificationConvertible` message also gets notifications with the message's name, if
/// `makeMessage`, which is called on the posting thread, makes the message of them. A center that captures a Foundation
/// center captures them, unless the name is that of the message's type. Messages that are posted to the Foundation
/// center are not captured.
/// Options: `ObserverOptions` are how a post on the target thread itself is delivered, how many notifications may wait,
/// and whether the observer gets the latest notification that was posted before it was added.
/// Cost: a thread that posts a name again finds its observers without a lock, unless an observer was added to or
/// removed from this center since, an observer of that name or of any name asks for an object or was added as one, or
/// an observer receives the latest notification of the name. Otherwise a post takes a lock and a look-up. Each observer
/// on another thread costs a lock, and 100 bytes until it has handled the notification. Observers of other names cost
/// nothing. The thread is signalled when its mailbox was empty and it does not watch for more; see `RunLoopThread`.
/// `notify-bench` measures it.
/// Source: the document's last paragraph. The numbers are those of the article *Order and Guarantees*.
public final class ThreadedNotificationCenter: Sendable, ObserverOwner {
    let state = Locked(CenterState(), isTakenToFork: true)
    /// The center's number and the version of its state, for `ObserverCache`. The version changes with the observers,
    /// and with the names that are retained, while the state is locked.
    let number = ThreadedNotificationCenter.newVersion()
    let version = Atomic(ThreadedNotificationCenter.newVersion())
    let capture: FoundationCapture?

    /// A center that also delivers the notifications posted to `NotificationCenter.default`.
    public static let `default` = ThreadedNotificationCenter(capturing: .default)

    /// Creates a center.
    ///
    /// - Parameter foundation: a center to capture notifications from, so that existing code that posts there is
    ///   redirected. One observer for each observed name is registered there. Notifications posted to the new center
    ///   are not posted there. For a captured notification, observers of any name come before or after the observers of
    ///   its name, as Foundation calls them. If any name is observed on a center where an `AsyncMessage` is posted,
    ///   Foundation aborts the process. An observer that is added while a notification is being captured may get that
    ///   one.
    public init(capturing foundation: NotificationCenter? = nil) {
        defer {
            // Released after the lock: the last reference to another center may be among them.
            let others = Self.known.withLock { $0.add(self) }
            withExtendedLifetime(others) {}
        }
        guard let foundation else {
            capture = nil
            return
        }
        let capturing = Locked<WeakReference<ThreadedNotificationCenter>?>(nil)
        capture = FoundationCapture(foundation) { notification, names in
            guard let center = capturing.withLock({ $0?.object }) else { return }
            ThreadContext.withCurrent { context in
                _ = center.deliver(notification, names, .capture, Post(at: SourceLocation("Foundation", 0)), context)
            }
        }
        capturing.withLock { $0 = WeakReference(self) }
    }

    // MARK: Posting

    /// Posts a notification: hands it over to the threads of its observers, and delivers to the observers on this
    /// thread.
    ///
    /// Handlers on this thread are called before `post` returns, if nothing else waits there (guarantee 2). `post` does
    /// not wait for other threads (3).
    ///
    /// A `deinit` may post its object: what is delivered before `post` returns has the object. What is kept for another
    /// thread, for a later handler or as the latest notification has no object, and a warning on standard error says so
    /// once, because no reference may outlive the `deinit`. Observers that ask for this object do not match. A
    /// reference to the object in userInfo, in a message or in another value is not found, and the system stops the
    /// program if it is kept.
    /// - Returns: the number of observers with each outcome, including observers on ended threads (10).
    @discardableResult
    public func post(_ notification: Notification, file: String = #fileID, line: Int = #line) -> DeliveryCounters {
        ThreadContext.withCurrent { context in
            deliver(notification, .all, .post, Post(at: SourceLocation(file, line)), context)
        }
    }

    /// Posts a notification with this name, object and userInfo.
    @discardableResult
    public func post(
        name: Notification.Name, object: Any? = nil, userInfo: [AnyHashable: Any]? = nil, file: String = #fileID,
        line: Int = #line
    ) -> DeliveryCounters {
        post(Notification(name: name, object: object, userInfo: userInfo), file: file, line: line)
    }

    /// Posts a notification and waits until every observer on another thread has handled it. It blocks the calling
    /// thread, which does not run its run loop meanwhile.
    ///
    /// On this thread, waiting notifications are delivered first, then this one. Those that its handlers post follow
    /// when the run loop next delivers. The wait ends for an observer that is removed before its handler begins.
    /// - Parameters:
    ///   - notification: the notification.
    ///   - timeout: the longest wait; negative counts as zero. After it the notification is still delivered.
    ///   - file: the caller's file, for errors and events.
    ///   - line: the caller's line, for errors and events.
    /// - Throws: before anything is posted: `DeliveryError` with the code `threadNotStarted`, `threadStopped`, or
    ///   `waitWouldDeadlock` if an observer's thread waits for this one, if an observer on this thread cannot be served
    ///   in the current run loop mode, or in the async handler of such an observer (13). Afterwards:
    ///   `notDeliveredInTime`, `threadEnded` or `dropped`.
    @available(*, noasync, message: "it blocks the thread; post without waiting")
    @discardableResult
    public func postAndWait(
        _ notification: Notification, timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters {
        try postAndWait(notification, nil, timeout: timeout, at: SourceLocation(file, line))
    }

    /// - Parameter message: the message, if the notification is one's.
    func postAndWait(
        _ notification: Notification, _ message: PostedMessage?, timeout: Duration, at location: SourceLocation
    ) throws(DeliveryError) -> DeliveryCounters {
        let object = NotificationObject(notification.object)
        let matching = observers(matching: notification, object, .all, of: nil)
        let observers = matching.observers
        var expected: [DeliveryWait.Expected] = []
        for case let observer? in observers {
            guard let mailbox = observer.mailbox else { continue }
            if mailbox.isCurrent {
                if observer.sameThread != .ordered || mailbox.isServedNow(observer.modeQueue) { continue }
            } else if let reason = mailbox.reasonNotToWait {
                throw reason
            }
            let name = notification.name.rawValue
            if let thread = mailbox.requiredThread {
                expected.append(DeliveryWait.Expected(observer: observer.id, notification: name, thread: thread))
            } else if mailbox.taskDrain != nil {
                expected.append(DeliveryWait.Expected(asyncHandlerOf: observer.id, notification: name))
            }
        }
        let wait = try DeliveryWait(for: expected, at: location)
        // A removal before the wait was registered did not end it.
        for case let observer? in observers where observer.isCancelled { wait.resolve(observer.id, .cancelled) }
        var (notification, message) = (notification, message)
        if let posted = message, matching.isRetained || ObserverSpan.with(observers, { !$0.get(posted) }) {
            (notification, message) = (posted.makeNotification(notification), posted.withNotification)
        }
        var counters = PostedMessage.withAddress(of: message) { [notification] message in
            let post = Post(at: location, wait: wait, message: message)
            // Only now it is certain that it is posted. An observer that was added since gets it too, and is not waited
            // for.
            let posted = matching.isRetained ? self.observers(matching: notification, object, .all, of: post) : matching
            return ObserverSpan.with(posted.observers) { span in
                ThreadContext.withCurrent { deliver(notification, to: span, .post, post, $0) }
            }
        }
        let waited = try wait.wait(notification: notification.name.rawValue, timeout: timeout)
        counters.resolveWaiting(
            delivered: waited.delivered, coalesced: waited.coalesced, cancelled: waited.cancelled)
        return counters
    }

    /// Posts a notification of a posting queue, with the number that it has there.
    package func post(_ notification: Notification, number: UInt64, at location: SourceLocation) {
        ThreadContext.withCurrent { context in
            _ = deliver(notification, .all, .post, Post(at: location, number: number), context)
        }
    }

    // MARK: The way of a notification

    /// Finds the observers, in this thread's cache or in the registry, and delivers to them.
    @inline(__always)
    private func deliver(
        _ notification: Notification, _ names: ObserverRegistry<Observer>.NameScope, _ stage: DeliveryEvent.Stage,
        _ post: Post, _ context: ThreadContext
    ) -> DeliveryCounters {
        if case .all = names,
            let found = context.cache.find(
                notification.name, of: number, version: version.load(ordering: .acquiring))
        {
            defer { found.giveBack() }
            return deliver(notification, to: found.observers, stage, post, context)
        }
        return deliverAfterLookUp(notification, names, stage, post, context)
    }

    @inline(never)
    private func deliverAfterLookUp(
        _ notification: Notification, _ names: ObserverRegistry<Observer>.NameScope, _ stage: DeliveryEvent.Stage,
        _ post: Post, _ context: ThreadContext
    ) -> DeliveryCounters {
        let matching = observers(
            matching: notification, NotificationObject(notification.object), names, of: post)
        if let version = matching.version, case .all = names {
            context.cache.keep(matching.observers, of: notification.name, of: number, version: version)
        }
        return ObserverSpan.with(matching.observers) { deliver(notification, to: $0, stage, post, context) }
    }

    /// As the first `deliver`, for a message. Its notification is made if the notification of this name is retained, or
    /// if an observer gets it.
    func deliver(
        _ message: UnsafePointer<PostedMessage>, subject: AnyObject?, at location: SourceLocation,
        _ context: ThreadContext
    ) -> DeliveryCounters {
        // Without a subject, the notification exists already, and using it counts no references.
        context.messageNames.name(of: message.pointee.type)._withUnsafeGuaranteedRef { name in
            if let subject {
                deliver(message, Notification(name: name.name, object: subject), subject, at: location, context)
            } else {
                deliver(message, name.notification, nil, at: location, context)
            }
        }
    }

    @inline(__always)
    private func deliver(
        _ message: UnsafePointer<PostedMessage>, _ notification: Notification, _ subject: AnyObject?,
        at location: SourceLocation, _ context: ThreadContext
    ) -> DeliveryCounters {
        let post = Post(at: location, message: message)
        if let found = context.cache.find(
            notification.name, of: number, version: version.load(ordering: .acquiring))
        {
            defer { found.giveBack() }
            return deliver(message.pointee, notification, to: found.observers, post, context)
        }
        let object = NotificationObject(subject)
        let matching = observers(matching: notification, object, .all, of: post)
        if matching.mustMakeNotification {
            return withUnsafePointer(to: message.pointee.withNotification) { message in
                deliverAfterLookUp(
                    message.pointee.makeNotification(notification), .all, .post,
                    Post(at: location, number: post.number, message: message), context)
            }
        }
        if let version = matching.version {
            context.cache.keep(matching.observers, of: notification.name, of: number, version: version)
        }
        return ObserverSpan.with(matching.observers) { deliver(message.pointee, notification, to: $0, post, context) }
    }

    @inline(__always)
    private func deliver(
        _ message: PostedMessage, _ notification: Notification, to observers: ObserverSpan, _ post: Post,
        _ context: ThreadContext
    ) -> DeliveryCounters {
        observers.get(message)
            ? deliver(notification, to: observers, .post, post, context)
            : deliver(message.makeNotification(notification), to: observers, .post, post, context)
    }

    /// Hands a notification over to the observers on other threads, then delivers to those on this thread.
    @inline(__always)
    private func deliver(
        _ notification: Notification, to observers: ObserverSpan, _ stage: DeliveryEvent.Stage, _ post: Post,
        _ context: ThreadContext
    ) -> DeliveryCounters {
        if post.number != 0 { trace(notification, observers.count, stage, post, context) }
        var counters = DeliveryCounters()
        var (here, positions) = (0, 0)
        observers.each { observer in
            if observer.isHere(context) {
                here += 1
                if observer.hasPositions { positions += 1 }
            } else {
                counters.count(
                    observer.withMailbox { $0.enqueue(notification, post, for: observer, context) } ?? nil)
            }
        }
        // A single observer on this thread is called directly; no other handler can run before it.
        if positions > 0, here > 1 || post.wait != nil {
            FanOut.deliver(notification, post, to: observers, context, &counters)
        } else if here > 0 {
            observers.each { observer in
                guard observer.isHere(context) else { return }
                counters.count(
                    observer.withMailbox { $0.deliverAtOnce(notification, post, to: observer, context) }
                        ?? ObserverCall.runAtOnce(observer, with: notification, of: post, context))
            }
        }
        if counters.cancelled > 0 {
            observers.each { observer in
                // Others are removed by the thread that cancelled them, which knows why.
                if observer.receiver != nil, observer.isCancelled || observer.hasLostItsObject { remove(observer, nil) }
            }
        }
        return counters
    }

    @inline(never)
    private func trace(
        _ notification: Notification, _ count: Int, _ stage: DeliveryEvent.Stage, _ post: Post, _ context: ThreadContext
    ) {
        DeliveryEvent.trace(
            stage, name: notification.name, post: post.number, location: stage == .post ? post.location : nil,
            count: count, sender: NotificationObject(notification.object),
            relatedPost: stage == .capture ? context.capturedPost(of: notification.name) : 0)
    }

    /// The observers of a post.
    struct Matching {
        var observers: [Observer?]
        /// The state's version, if these observers match whatever the object is, and nothing is retained; else nil.
        let version: UInt64?
        /// True if the latest notification of the name is retained.
        let isRetained: Bool
        /// True if the notification of a message must be made first, because it is to be retained.
        var mustMakeNotification = false
    }

    /// Finds the observers that match, in the registry.
    /// - Parameter post: the post of the notification, which is then retained if its name is; nil: it is not posted.
    func observers(
        matching notification: Notification, _ object: NotificationObject,
        _ names: ObserverRegistry<Observer>.NameScope, of post: Post?
    ) -> Matching {
        let (name, hash) = (notification.name.rawValue, object.hash)
        let kept = post == nil ? notification : notification.kept
        state.lock()
        // A notification that Foundation captured is retained with the observers of its name.
        let isRetained = state.valueWhileLocked.latest.retains(name)
        var replaced: LatestNotifications.Latest?
        if isRetained, let message = post?.message, !message.hasNotification {
            state.unlock()
            return Matching(observers: [], version: nil, isRetained: true, mustMakeNotification: true)
        }
        if isRetained, let post, names != .any {
            replaced = state.valueWhileLocked.latest.replace(with: .init(kept, of: post))
        }
        var found = state.valueWhileLocked.registry.observers(matching: name, objectHash: hash, names: names)
        let version =
            !isRetained && state.valueWhileLocked.registry.isOfAnyObject(name: name)
            ? self.version.load(ordering: .relaxed) : nil
        state.unlock()
        withExtendedLifetime(replaced) {}
        if isRetained, let post, kept.object == nil { notification.warnOfLostObject(at: post.location) }
        // Comparing objects calls foreign code, so it is done without the lock, and once.
        if found.contains(where: { $0?.filter.isAny == false }) {
            found = found.filter { $0?.filter.matches(object) == true }
        }
        if found.contains(where: { $0?.hasLostItsObject == true }) {
            for case let observer? in found where observer.hasLostItsObject { remove(observer, nil) }
            found.removeAll { $0?.isCancelled == true }
        }
        return Matching(observers: found, version: version, isRetained: isRetained)
    }

    // MARK: Adding and removing

    /// Adds an observer: the one way of all `addObserver`.
    func add(
        _ name: Notification.Name?, _ object: Any?, _ options: ObserverOptions, _ location: SourceLocation,
        _ handler: Handler
    ) -> ObserverToken {
        let object = NotificationObject(object)
        let observer = Observer(
            name: name, object: object, mailbox: handler.mailbox, options: options,
            handler: ObserverHandler(handler.kind), isRemovedWithToken: handler.isRemovedWithToken, location: location)
        DeliveryEvent.trace(
            .register, name: name, observer: observer.id, target: handler.mailbox?.identity, location: location,
            sender: object)
        if observer.isCaptured { capture?.retain(observer.key.name) }
        let listsToCheck = register(observer)
        // Observers without their object or thread, and that no token removes.
        for list in listsToCheck {
            for case let other? in list where other.isGone { remove(other, nil) }
        }
        return ObserverToken(observer, of: self)
    }

    /// - Returns: whether the observer was registered.
    @discardableResult
    func remove(_ observer: Observer, _ reason: DeliveryEvent.Reason?) -> Bool {
        let running = observer.cancel()
        let (wasRemoved, latest) = state.withLock { state -> (Bool, LatestNotifications.Latest?) in
            guard state.registry.remove(id: observer.id, key: observer.key, receiver: observer.receiver) != nil else {
                return (false, nil)
            }
            version.store(Self.newVersion(), ordering: .releasing)
            return (true, observer.retainedName.flatMap { state.latest.release($0) })
        }
        guard wasRemoved else { return false }
        withExtendedLifetime(latest) {}
        if observer.isCaptured { capture?.release(observer.key.name) }
        DeliveryEvent.trace(
            .remove, name: observer.name, observer: observer.id, target: observer.mailbox?.identity, count: running,
            reason: reason)
        return true
    }

    /// A number that no center and no version had before.
    static func newVersion() -> UInt64 { lastVersion.add(1, ordering: .relaxed).newValue }

    private static let known = Locked(KnownCenters(), isTakenToFork: true)

    /// Makes what all threads share, before the process forks.
    static func makeShared() { _ = known }

    /// The handlers that a thread runs now, of all centers, for an error.
    /// - Parameter thread: as in the error.
    static func handlersRunning(on thread: String) -> [DeliveryError.Handler] {
        known.withLock { $0.centers.compactMap(\.object) }.flatMap { center in
            center.state.withLock { $0.registry.all }.filter { observer in
                // The transform of an observer runs on the posting thread.
                !observer.transforms && observer.state.running > 0
                    && observer.mailbox?.identity.map { "\($0)" } == thread
            }.map { DeliveryError.Handler(observer: $0.id, notification: $0.name?.rawValue, location: $0.location) }
        }
    }

    /// The number of observers, and of observers registered with a Foundation center.
    var registrations: (observers: Int, captured: Int) {
        (state.withLock { $0.registry.count }, capture?.count ?? 0)
    }
}

private let lastVersion = Atomic<UInt64>(0)

/// The centers of the process, not retained.
private struct KnownCenters {
    private(set) var centers: [WeakReference<ThreadedNotificationCenter>] = []
    private var checkAt = 16

    /// - Returns: the others, if it has looked which of them exist.
    mutating func add(_ center: ThreadedNotificationCenter) -> [ThreadedNotificationCenter] {
        centers.append(WeakReference(center))
        guard centers.count >= checkAt else { return [] }
        let existing = centers.compactMap(\.object)
        centers = existing.map { WeakReference($0) }
        checkAt = max(16, 2 * centers.count)
        return existing
    }
}
