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
///     post ─► observers ─► enqueue ─► wake ─► drain ─► call
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
/// Cost: a post takes a lock and a look-up; a second lock, and the comparison of objects, if an observer of the center
/// asks for an object, was added as one, or receives the latest notification. Each observer on another thread costs a
/// lock, and about 100 bytes until it has handled the notification. The number of observers of other names does not
/// matter. The thread is woken if nothing waited for it. `notify-bench` measures it.
/// Source: the document's last paragraph. The numbers are those of the article *Order and Guarantees*.
public final class ThreadedNotificationCenter: Sendable, ObserverOwner {
    let state = Locked(CenterState())
    /// Another number, unique in the process, after each change of the state; 0: it was never changed.
    private let version = Atomic<UInt64>(0)
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
            _ = center.deliver(notification, Post(file: "Foundation", line: 0), to: nil, names, .capture)
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
        deliver(notification, Post(file: file, line: line))
    }

    /// Posts a notification with this name, object and userInfo.
    @discardableResult
    public func post(
        name: Notification.Name, object: consuming Any? = nil, userInfo: consuming [AnyHashable: Any]? = nil,
        file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters {
        deliver(Notification(name: name, object: object, userInfo: userInfo), Post(file: file, line: line))
    }

    /// Posts a notification and waits until every observer on another thread has handled it. It blocks the calling
    /// thread, which does not run its run loop meanwhile.
    ///
    /// On this thread, waiting notifications are delivered first, then this one, in any run loop mode. Those that its
    /// handlers post follow when the run loop next delivers. The wait ends for an observer that is removed before its
    /// handler begins.
    /// - Parameters:
    ///   - notification: the notification.
    ///   - timeout: the longest wait; negative counts as zero. After it the notification is still delivered.
    ///   - file: the caller's file, for errors and events.
    ///   - line: the caller's line, for errors and events.
    /// - Throws: before anything is posted: `DeliveryError` with the code `threadNotStarted`, `threadStopped`, or
    ///   `waitWouldDeadlock` if an observer's thread waits for this one, or in the async handler of such an observer
    ///   (13). Afterwards: `notDeliveredInTime`, `threadEnded` or `dropped`.
    @available(*, noasync, message: "it blocks the thread; post without waiting")
    @discardableResult
    public func postAndWait(
        _ notification: Notification, timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters {
        try postAndWait(notification, nil, timeout: timeout, at: SourceLocation(file, line))
    }

    func postAndWait(
        _ notification: Notification, _ message: PostedMessage?, timeout: Duration, at location: SourceLocation
    ) throws(DeliveryError) -> DeliveryCounters {
        let observers = ThreadContext.withCurrent { self.observers(matching: notification, of: nil, $0) }
        var targets: [WaitGraph.Target] = []
        for observer in observers {
            if let mailbox = observer.mailbox {
                let isOwn = mailbox.isCurrent
                if isOwn, observer.options.sameThread != .ordered { continue }
                if !isOwn, let reason = mailbox.reasonNotToWait { throw reason }
                targets.append(
                    .init(kind: isOwn ? .ownDelivery : .delivery, observer: observer.id, thread: mailbox.identity))
            } else if let tasks = observer.tasks {
                targets.append(
                    .init(kind: .delivery, observer: observer.id, thread: try tasks.threadToWaitFor))
            }
        }
        let wait = try DeliveryWait(for: targets, of: notification.name.rawValue, at: location)
        // A removal before the wait was registered did not end it.
        for observer in observers where observer.isCancelled { wait.resolve(observer.id, .cancelled) }
        let post = Post(file: location.file, line: location.line, wait: wait, message: message)
        // Only now it is certain that it is posted. An observer that was added since gets it if it is retained, and is
        // not waited for.
        let isRetained = state.withLock { $0.latest.retains(notification.name.rawValue) }
        var counters = deliver(notification, post, to: isRetained ? nil : observers)
        counters.resolveWaiting(try wait.wait(timeout: timeout))
        return counters
    }

    /// Posts a notification of a posting queue, with the number that it has there.
    package func post(_ notification: Notification, number: UInt64, at location: SourceLocation) {
        _ = deliver(notification, Post(number: number, file: location.file, line: location.line))
    }

    // MARK: The way of a notification

    /// Finds the observers, lets them prepare what they get, and delivers.
    /// - Parameter known: the observers, if they were found before.
    func deliver(
        _ notification: consuming Notification, _ post: Post, to known: [Observer]? = nil,
        _ names: ObserverRegistry<Observer>.NameScope = .all, _ stage: DeliveryEvent.Stage = .post
    ) -> DeliveryCounters {
        let context = ThreadContext.unretained
        let observers =
            known ?? context._withUnsafeGuaranteedRef { self.observers(matching: notification, names, of: post, $0) }
        if post.number != 0 {
            DeliveryEvent.trace(
                stage, name: notification.name, post: post.number, location: stage == .post ? post.location : nil,
                count: observers.count, sender: NotificationObject(notification.object),
                relatedPost: stage == .capture ? Recorder.capturedPost(of: notification.name) : 0)
        }
        if observers.isEmpty { return DeliveryCounters.none }
        let payload: Payload =
            if let message = post.message, observers.allSatisfy({ $0.needsOnly(message) }) {
                message.payload
            } else {
                PostedNotification(notification)
            }
        return context._withUnsafeGuaranteedRef { $0.deliver(payload, post, to: observers) }
    }

    /// Finds the observers that match.
    /// - Parameter post: the post of the notification, which is then retained if its name is; nil: it is not posted.
    func observers(
        matching notification: Notification, _ names: ObserverRegistry<Observer>.NameScope = .all,
        of post: Post?, _ context: ThreadContext
    ) -> [Observer] {
        // The observers that this thread found last, if they are the same now.
        if names == .all, context.found.version == version.load(ordering: .acquiring),
            context.found.name == notification.name.rawValue
        {
            return context.found.observers
        }
        let name = notification.name.rawValue
        state.lock()
        if state.valueWhileLocked.isUnconditional {
            let found = state.valueWhileLocked.registry.observers(matching: name, objectHash: nil, names: names)
            let version = version.load(ordering: .relaxed)
            state.unlock()
            if names == .all {
                // Releasing an observer calls foreign code, which may post.
                let before = context.found
                // A copy, because threads that count the references of one array delay each other.
                context.found = FoundObservers(version: version, name: name, observers: found.map(\.self))
                withExtendedLifetime(before) {}
            }
            return found
        }
        state.unlock()
        let object = NotificationObject(notification.object)
        let hash = object.hash
        let kept = notification.kept
        var replaced: LatestNotifications.Latest?
        state.lock()
        let isRetained = post != nil && names != .any && state.valueWhileLocked.latest.retains(name)
        // A notification that Foundation captured is retained with the observers of its name.
        if isRetained, let post {
            replaced = state.valueWhileLocked.latest.replace(with: .init(kept, of: post))
        }
        var found = state.valueWhileLocked.registry.observers(matching: name, objectHash: hash, names: names)
        state.unlock()
        withExtendedLifetime(replaced) {}
        if isRetained, let post, kept.object == nil { notification.warnOfLostObject(at: post.location) }
        // Comparing objects calls foreign code, so it is done without the lock.
        found.removeAll { !$0.filter.isAny && !$0.filter.matches(object) }
        for observer in found where observer.hasLostItsObject { remove(observer, nil) }
        found.removeAll { $0.hasLostItsObject }
        return found
    }

    /// Changes what posts find.
    func change<Result>(_ body: (inout CenterState) -> Result) -> Result {
        state.lock()
        defer {
            version.store(lastVersion.add(1, ordering: .relaxed).newValue, ordering: .releasing)
            state.unlock()
        }
        return body(&state.valueWhileLocked)
    }

    // MARK: Adding and removing

    /// Adds an observer: the one way of all `addObserver`.
    func add(
        _ name: Notification.Name?, _ object: Any?, _ options: ObserverOptions, _ location: SourceLocation,
        _ handler: Handler
    ) -> ObserverToken {
        let object = NotificationObject(object)
        let observer = Observer(name: name, object: object, options: options, handler: handler, location: location)
        DeliveryEvent.trace(
            .register, name: name, observer: observer.id, target: observer.mailbox?.identity, location: location,
            sender: object)
        if observer.isCaptured { capture?.retain(observer.key.name) }
        // Observers without their object or thread, and that no token removes.
        for other in register(observer) where other.isGone { remove(other, nil) }
        return ObserverToken(observer, of: self)
    }

    /// - Returns: whether the observer was registered.
    @discardableResult
    func remove(_ observer: Observer, _ reason: DeliveryEvent.Reason?) -> Bool {
        let running = observer.cancel()
        var latest: LatestNotifications.Latest?
        let wasRemoved = change { state in
            guard state.registry.remove(id: observer.id, key: observer.key, receiver: observer.receiver) != nil else {
                return false
            }
            latest = observer.retainedName.flatMap { state.latest.release($0) }
            return true
        }
        guard wasRemoved else { return false }
        withExtendedLifetime(latest) {}
        if observer.isCaptured { capture?.release(observer.key.name) }
        DeliveryEvent.trace(
            .remove, name: observer.name, observer: observer.id, target: observer.mailbox?.identity, count: running,
            reason: reason)
        return true
    }

    static let known = Locked(KnownCenters())

    /// The handlers that a thread runs now, of all centers, for an error.
    /// - Parameter thread: as in the error.
    static func handlersRunning(on thread: String) -> [DeliveryError.Handler] {
        known.withLock { $0.centers.compactMap(\.object) }.flatMap { center in
            center.state.withLock { $0.registry.all }.filter { observer in
                // The transform of an observer runs on the posting thread.
                !observer.prepares && observer.state.running > 0
                    && observer.mailbox?.identity.map { "\($0)" } == thread
            }.map { DeliveryError.Handler(observer: $0.id, notification: $0.name?.rawValue, location: $0.location) }
        }
    }

    /// The number of observers, and of observers registered with a Foundation center.
    var registrations: (observers: Int, captured: Int) {
        (state.withLock { $0.registry.count }, capture?.count ?? 0)
    }
}

/// One call of `post`, besides its notification.
struct Post {
    /// The post's number in events; 0 if nothing traced when it was posted.
    var number = DeliveryEvent.nextPost()
    /// The location of the call.
    var file: String
    var line: Int
    /// The wait for the deliveries, if the call waits. Then what waits on this thread is delivered before this post.
    var wait: DeliveryWait?
    /// The message, if it is posted as one.
    var message: PostedMessage?

    var location: SourceLocation { SourceLocation(file, line) }
}

/// The state behind the lock of a center. Adding an observer and reading the latest notification are one step, and so
/// are finding the observers of a post and retaining its notification. So no observer misses both.
struct CenterState {
    var registry = ObserverRegistry<Observer>()
    var latest = LatestNotifications()

    /// True if the observers of a notification depend on its name only, and nothing is retained.
    var isUnconditional: Bool { registry.isUnconditional && latest.isEmpty }

    /// - Returns: as `ObserverRegistry.add`.
    mutating func add(_ observer: Observer) -> [Observer] {
        registry.add(observer, id: observer.id, key: observer.key, receiver: observer.receiver)
    }
}

private let lastVersion = Atomic<UInt64>(0)

/// The centers of the process, not retained.
struct KnownCenters {
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
