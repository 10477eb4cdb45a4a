public import Foundation
internal import Synchronization

/// A notification center whose observers each say on which thread they handle: the generalisation that Apple's document
/// "Delivering Notifications To Particular Threads" asks for at its end, with one mailbox for each thread.
///
///     let token = ThreadedNotificationCenter.default.addObserver(forName: name, on: .main) { notification in
///         …   // on the main thread, whichever thread posts
///     }
///
///     post ─► capture ─► mailbox ─► signal ─► run loop ─► drain ─► handler
///
/// Threads: every method may be called on any thread. A handler runs on its target thread and on no other (guarantee 1).
/// Order: what one thread posts reaches an observer in the order posted (4); observers of one notification that share a
/// thread are called in the order in which they were added (5). No order is promised across posting threads.
/// Handlers on the posting thread come after the hand-over to other threads, so what they post does not overtake there.
/// Removal: by token; see `ObserverToken` (6, 7). An observer that is added or removed during a post does not get that
/// notification, unless it got it already.
/// Matching: a name and an object, nil being any. An object is compared by identity and not retained; a hashable value by
/// equality, on the threads that post.
/// Cost: a thread that posts a name again finds its observers without a lock, unless one was added to or removed from this center in
/// between, or some of that name or of any ask for an object; else a post takes a lock and a look-up. For each observer on another thread it takes a lock, and 100 bytes
/// until it is handled. It does not depend on what else is observed. The thread is signalled when its mailbox was empty, unless it
/// is looking for more; see `RunLoopThread`. `notify-demo bench` prints what that comes to.
/// Source: the document's last paragraph. The numbers are those of the article *Order and Guarantees*.
public final class ThreadedNotificationCenter: Sendable {
    private let registry = Locked(ObserverRegistry<Registration>())
    private let number = ThreadedNotificationCenter.newVersion()
    /// Changes with `registry`, while that is locked.
    private let version = Atomic(ThreadedNotificationCenter.newVersion())
    private let capture: FoundationCapture?

    /// A center whose observers also get what is posted to `NotificationCenter.default`.
    public static let `default` = ThreadedNotificationCenter(capturing: .default)

    /// A center of its own.
    ///
    /// - Parameter foundation: whose notifications are captured, so that posts made by code that knows nothing of this
    ///   center are redirected. It holds one registration there for each name that is observed, however many observers there are.
    ///   What is posted here is not posted there. Of those who get a captured notification, the observers of any name come
    ///   before or after the observers of its name, as Foundation has it. On a center where an `AsyncMessage` is posted,
    ///   Foundation aborts the process if any name is observed. An observer that is added while a notification is being captured
    ///   may get that one.
    public init(capturing foundation: NotificationCenter? = nil) {
        guard let foundation else {
            capture = nil
            return
        }
        let observers = WeakCenter()
        capture = FoundationCapture(foundation) { notification, names in
            guard let center = observers.center else { return }
            ThreadContext.withCurrent { context in
                _ = center.deliver(
                    notification, names, .capture,
                    PostedNotification(
                        number: DeliveryEvent.nextPost(), wait: nil, place: SourceLocation("Foundation", 0)), context)
            }
        }
        observers.center = self
    }

    // MARK: Posting

    /// Posts a notification: delivers to the observers on this thread, and hands over to the others'.
    ///
    /// What happens: for observers on this very thread the handler is called before `post` returns, if nothing waits
    /// there (guarantee 2). For those on other threads `post` does not wait (3), unless an observer's policy is to block.
    /// - Returns: for how many observers what happened; a thread that has ended is among it (10).
    @discardableResult
    public func post(_ notification: Notification, file: String = #fileID, line: Int = #line) -> DeliveryCounters {
        ThreadContext.withCurrent { context in
            deliver(
                notification, .all, .post,
                PostedNotification(number: DeliveryEvent.nextPost(), wait: nil, place: SourceLocation(file, line)),
                context
            )
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

    /// Posts a notification and waits until every observer on another thread has handled it. It blocks the calling thread,
    /// which does not run its run loop meanwhile.
    ///
    /// What happens: for observers on this very thread, what waits there is delivered first, then this. What those
    /// handlers post comes after it, when the run loop next delivers; so nothing is overtaken. An observer that is
    /// removed before its handler begins is not waited for.
    /// - Parameters:
    ///   - notification: what is posted.
    ///   - timeout: the longest wait; negative counts as zero. After it the notification is still on its way.
    ///   - file: the caller's; errors name it.
    ///   - line: the caller's; errors name it.
    /// - Throws: before anything is posted: `DeliveryError.threadNotStarted`, `.threadStopped`, or `.waitWouldDeadlock` if an
    ///   observer's thread waits for this one, or is this one in a run loop mode that is not the observer's (13). Afterwards:
    ///   `.notDeliveredInTime` with what is pending, `.threadEnded`, or `.dropped`.
    @available(*, noasync, message: "it blocks the thread; post without waiting")
    @discardableResult
    public func postAndWait(
        _ notification: Notification, timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters {
        let place = SourceLocation(file, line)
        let object = NotificationObject(notification.object)
        let (observers, _) = matching(notification, object, .all)
        var expected: [DeliveryWait.Expected] = []
        for case let observer? in observers {
            guard let mailbox = observer.mailbox else { continue }
            if mailbox.isCurrent {
                if observer.options.sameThread == .atOnce || mailbox.isDeliverableNow(observer.lane) { continue }
            } else if let reason = mailbox.reasonNotToWait {
                throw reason
            }
            guard let thread = mailbox.identity else { continue }
            expected.append(
                DeliveryWait.Expected(
                    observer: observer.id, notification: notification.name.rawValue, thread: thread))
        }
        let wait = try DeliveryWait(for: expected, at: place)
        // One that was removed before the wait was known to its removal.
        for case let observer? in observers where observer.isCancelled { wait.resolve(observer.id, .cancelled) }
        let posted = PostedNotification(number: DeliveryEvent.nextPost(), wait: wait, place: place)
        var report = FoundObservers.with(observers) { found in
            ThreadContext.withCurrent { deliver(notification, to: found, .post, posted, $0) }
        }
        let waited = try wait.wait(notification: notification.name.rawValue, timeout: timeout)
        report.resolveWaiting(delivered: waited.delivered, cancelled: waited.cancelled)
        return report
    }

    /// Posts what a queue has held, under the number that it has there.
    func postHeld(_ queued: QueuedNotification) {
        ThreadContext.withCurrent { context in
            _ = deliver(
                queued.notification, .all, .post,
                PostedNotification(number: queued.number, wait: nil, place: queued.place),
                context)
        }
    }

    /// - Returns: those who match, and the version of the registry in which they do whatever the object is; nil: there is none.
    private func matching(
        _ notification: Notification, _ object: NotificationObject, _ names: ObserverRegistry<Registration>.NameScope
    ) -> (observers: [Registration?], version: UInt64?) {
        let hash = object.hash
        var (found, version) = registry.withLock { registry in
            (
                registry.matching(name: notification.name.rawValue, objectHash: hash, names: names),
                registry.isOfAnyObject(name: notification.name.rawValue) ? self.version.load(ordering: .relaxed) : nil
            )
        }
        // To compare objects is foreign code: it is done without the lock, and once.
        if found.contains(where: { $0?.filter.isAny == false }) {
            found = found.filter { $0?.filter.matches(object) == true }
        }
        if found.contains(where: { $0?.hasLostItsObject == true }) {
            for case let observer? in found where observer.hasLostItsObject { remove(observer) }
            found.removeAll { $0?.isCancelled == true }
        }
        return (found, version)
    }

    @inline(__always)
    private func deliver(
        _ notification: Notification, _ names: ObserverRegistry<Registration>.NameScope, _ stage: DeliveryEvent.Stage,
        _ posted: PostedNotification, _ context: ThreadContext
    ) -> DeliveryCounters {
        if case .all = names,
            let known = context.lookups.find(notification.name, of: number, version: version.load(ordering: .acquiring))
        {
            defer { known.giveBack() }
            return deliver(notification, to: known.observers, stage, posted, context)
        }
        return deliverAfterLookingUp(notification, names, stage, posted, context)
    }

    @inline(never)
    private func deliverAfterLookingUp(
        _ notification: Notification, _ names: ObserverRegistry<Registration>.NameScope, _ stage: DeliveryEvent.Stage,
        _ posted: PostedNotification, _ context: ThreadContext
    ) -> DeliveryCounters {
        let (observers, version) = matching(notification, NotificationObject(notification.object), names)
        if let version, case .all = names {
            context.lookups.keep(observers, of: notification.name, of: number, version: version)
        }
        return FoundObservers.with(observers) { deliver(notification, to: $0, stage, posted, context) }
    }

    @inline(__always)
    private func deliver(
        _ notification: Notification, to observers: FoundObservers, _ stage: DeliveryEvent.Stage,
        _ posted: PostedNotification, _ context: ThreadContext
    ) -> DeliveryCounters {
        if posted.number != 0 { trace(notification, observers.count, stage, posted, context) }
        return posted.deliver(notification, to: observers, context, of: self)
    }

    @inline(never)
    private func trace(
        _ notification: Notification, _ count: Int, _ stage: DeliveryEvent.Stage, _ posted: PostedNotification,
        _ context: ThreadContext
    ) {
        DeliveryEvent.trace(
            stage, name: notification.name, post: posted.number, place: stage == .post ? posted.place : nil,
            count: count, sender: NotificationObject(notification.object),
            relatedPost: stage == .capture ? context.queuedPost(of: notification.name) : 0)
    }

    /// Posts a notification to these observers of this center and to nobody else, whatever they ask for.
    ///
    /// For who has matched it elsewhere, so that it counts as captured. Order: as they stand there (5).
    package func post(_ notification: Notification, only observers: [ObserverToken]) -> DeliveryCounters {
        ThreadContext.withCurrent { context in
            FoundObservers.with(observers.map(\.registration)) {
                deliver(
                    notification, to: $0, .capture,
                    PostedNotification(
                        number: DeliveryEvent.nextPost(), wait: nil,
                        place: SourceLocation("DistributedNotifications", 0)),
                    context)
            }
        }
    }

    // MARK: Observing

    /// Adds an observer whose handler gets a value made of the notification. Nothing in it is unsafe: what a `Notification`
    /// holds stays on the posting thread.
    ///
    /// - Parameters:
    ///   - name: which notifications; nil: any.
    ///   - object: of which object, compared by identity and not retained; or of which hashable value, compared by equality on
    ///     the threads that post; nil: any. Anything else is a programmer's error and stops the program.
    ///   - thread: where the handler runs.
    ///   - options: what may be chosen about an observer.
    ///   - file: the caller's; recordings and events name it.
    ///   - line: the caller's; recordings and events name it.
    ///   - transform: called on the posting thread; nil: this notification is not for this observer.
    ///   - handler: called on `thread` with the value.
    /// - Returns: a token. Keep it: dropping it removes the observer.
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @Sendable (Value) -> Void
    ) -> ObserverToken {
        add(
            name, object, thread.targetThread.mailbox, options, SourceLocation(file, line),
            .value(map: transform) { if let value = $0 as? Value { handler(value) } })
    }

    /// Adds an observer whose handler gets the notification. Its object and userInfo are then used on `thread` too: what is not
    /// safe there is better mapped.
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Notification) -> Void
    ) -> ObserverToken {
        add(name, object, thread.targetThread.mailbox, options, SourceLocation(file, line), .notification(handler))
    }

    /// Adds an observer on the current thread, whose handler need not be `Sendable`: it is called, and released, on this
    /// thread only.
    ///
    ///     let token = center.addObserver(forName: name, on: .current) { _ in closed += 1 }
    ///
    /// - Parameters:
    ///   - name: which notifications; nil: any.
    ///   - object: of which sender, as for any observer.
    ///   - thread: `.current`.
    ///   - options: what may be chosen about an observer.
    ///   - isolation: the actor that the caller runs on. It must be bound to this thread, as the main actor and an actor on a
    ///     `RunLoopThread` are; another actor's thread is a different one each time, and stops the program.
    ///   - file: the caller's; recordings and events name it.
    ///   - line: the caller's; recordings and events name it.
    ///   - handler: called on this thread.
    /// - Returns: a token. Keep it: dropping it removes the observer.
    @available(*, noasync, message: "a task runs on a different thread each time; observe from synchronous code")
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: CurrentThread,
        options: ObserverOptions = ObserverOptions(), isolation: isolated (any Actor)? = #isolation,
        file: String = #fileID, line: Int = #line, using handler: @escaping (Notification) -> Void
    ) -> ObserverToken {
        Self.checkThread(thread, isolation)
        return add(
            name, object, thread.targetThread.mailbox, options, SourceLocation(file, line),
            .threadBound(ThreadBoundHandler(handler)))
    }

    /// Adds an object on the current thread whose method handles, as the document's selectors do.
    ///
    ///     center.addObserver(self, forName: name, on: .current) { $0.windowWillClose($1) }
    ///
    /// Removal: the object is not retained, and is kept alive while its handler runs. When it has been deallocated, the
    /// observer does not match any more, and the next post that would have matched removes it. The memory that the
    /// object occupied, but nothing that it held, is kept until then, and as long as the token is.
    /// - Parameters:
    ///   - observer: the object.
    ///   - name: which notifications; nil: any.
    ///   - object: of which sender, as for any observer.
    ///   - thread: `.current`.
    ///   - options: what may be chosen about an observer.
    ///   - isolation: the actor that the caller runs on, which must be bound to this thread.
    ///   - file: the caller's; recordings and events name it.
    ///   - line: the caller's; recordings and events name it.
    ///   - handler: called on this thread with the object.
    /// - Returns: a token, to remove it earlier. It need not be kept.
    @available(*, noasync, message: "a task runs on a different thread each time; observe from synchronous code")
    @discardableResult
    public func addObserver<Object: AnyObject>(
        _ observer: Object, forName name: Notification.Name?, object: Any? = nil, on thread: CurrentThread,
        options: ObserverOptions = ObserverOptions(), isolation: isolated (any Actor)? = #isolation,
        file: String = #fileID, line: Int = #line, using handler: @escaping (Object, Notification) -> Void
    ) -> ObserverToken {
        Self.checkThread(thread, isolation)
        return add(
            name, object, thread.targetThread.mailbox, options, SourceLocation(file, line),
            .threadBound(ThreadBoundHandler(observer, handler)),
            isKeptByToken: false)
    }

    /// Stops the program if the handler could run on another thread than the code that made it.
    private static func checkThread(_ thread: CurrentThread, _ isolation: (any Actor)?) {
        precondition(
            thread.targetThread.mailbox?.isCurrent == true,
            "ThreadedNotificationCenter: .current was evaluated on another thread. Write on: .current in the call.")
        guard let isolation, mailbox(of: isolation)?.isCurrent != true else { return }
        preconditionFailure(
            isolation is MainActor
                ? """
                ThreadedNotificationCenter: the main actor does not run on the main thread, because the program's main function is \
                async. Write a synchronous one that starts a Task and runs RunLoop.main.run().
                """
                : """
                ThreadedNotificationCenter: \(type(of: isolation)) is bound to no thread, so a handler on the current thread could \
                run beside it. Give the actor a RunLoopThread as its executor, or use addObserver(forName:on:transform:using:).
                """)
    }

    /// The mailbox of the thread on which alone an actor runs.
    private static func mailbox(of actor: any Actor) -> ThreadMailbox? {
        guard let executor = actor.unownedExecutor.asSerialExecutor() else { return nil }
        if let thread = executor as? RunLoopThread { return thread.mailbox }
        return executor === MainActor.sharedUnownedExecutor.asSerialExecutor() ? .main : nil
    }

    /// Adds an observer whose handler is isolated to an actor, which lives on a `RunLoopThread` or on the main thread, and is
    /// called there without a further hop. The actor is retained until the observer is removed.
    /// - Throws: `DeliveryError.actorNotPinned`.
    public func addObserver<Target: Actor, Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, isolatedTo actor: Target,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @Sendable (isolated Target, Value) -> Void
    ) throws(DeliveryError) -> ObserverToken {
        guard let mailbox = Self.mailbox(of: actor) else { throw .actorNotPinned(actor: "\(Target.self)") }
        return add(
            name, object, mailbox, options, SourceLocation(file, line),
            .value(map: transform) { value in
                guard let value = value as? Value else { return }
                mailbox.runJob { actor.assumeIsolated { handler($0, value) } }
            })
    }

    /// Adds an observer whose handler is isolated to the main actor, and is called on the main thread with a value made of the
    /// notification.
    ///
    ///     let token = center.addObserver(forName: name, isolatedTo: MainActor.shared, transform: { $0.object as? String }, using: show)
    ///
    /// - Parameters:
    ///   - name: which notifications; nil: any.
    ///   - object: of which sender, as for any observer.
    ///   - actor: `MainActor.shared`. The main thread delivers while it runs its run loop; see `.main`.
    ///   - options: what may be chosen about an observer.
    ///   - file: the caller's; recordings and events name it.
    ///   - line: the caller's; recordings and events name it.
    ///   - transform: called on the posting thread; nil: this notification is not for this observer.
    ///   - handler: called on the main thread.
    /// - Returns: a token. Keep it: dropping it removes the observer.
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, isolatedTo actor: MainActor,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @MainActor @Sendable (Value) -> Void
    ) -> ObserverToken {
        addObserver(
            forName: name, object: object, on: .main, options: options, file: file, line: line, transform: transform,
            using: { value in MainActor.assumeIsolated { handler(value) } })
    }

    /// The notifications as an `AsyncSequence`, of values that are made of them on the posting thread.
    ///
    /// - Parameters:
    ///   - name: which notifications; nil: any.
    ///   - object: of which sender, as for any observer.
    ///   - buffer: how many values are held for an iterator that does not keep up, and which are dropped.
    ///   - file: the caller's; recordings and events name it.
    ///   - line: the caller's; recordings and events name it.
    ///   - transform: called on the posting thread; nil: this notification is not for the sequence.
    /// - Returns: a sequence that has observed from this moment on.
    public func notifications<Value: Sendable>(
        named name: Notification.Name?, object: Any? = nil,
        buffer: AsyncStream<Value>.Continuation.BufferingPolicy, file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?
    ) -> NotificationSequence<Value> {
        NotificationSequence(buffer: buffer) { sink in
            addObserver(
                forName: name, object: object, on: .postingThread, file: file, line: line, transform: transform,
                using: sink
            )
        }
    }

    private func add(
        _ name: Notification.Name?, _ object: Any?, _ mailbox: ThreadMailbox?, _ options: ObserverOptions,
        _ place: SourceLocation, _ handler: NotificationHandler.Kind, isKeptByToken: Bool = true
    ) -> ObserverToken {
        let object = NotificationObject(object)
        let registration = Registration(
            name: name, object: object, mailbox: mailbox, options: options, handler: handler,
            isKeptByToken: isKeptByToken)
        DeliveryEvent.trace(
            .register, name: name, observer: registration.id, target: mailbox?.identity, place: place, sender: object)
        capture?.retain(registration.key.name)
        let toLookThrough = registry.withLock {
            version.store(Self.newVersion(), ordering: .releasing)
            return $0.add(registration, id: registration.id, key: registration.key)
        }
        // Whose object or thread has gone, and nobody holds a token to remove it.
        for list in toLookThrough {
            for case let other? in list where other.isGone { remove(other) }
        }
        return ObserverToken(registration, of: self)
    }

    /// - Returns: whether it was there.
    @discardableResult
    func remove(_ registration: Registration) -> Bool {
        let running = registration.cancel()
        let wasRemoved = registry.withLock { registry in
            guard registry.remove(id: registration.id, key: registration.key) != nil else { return false }
            version.store(Self.newVersion(), ordering: .releasing)
            return true
        }
        guard wasRemoved else { return false }
        capture?.release(registration.key.name)
        DeliveryEvent.trace(
            .remove, name: registration.name, observer: registration.id, target: registration.mailbox?.identity,
            count: running)
        return true
    }

    /// What no center had yet.
    private static func newVersion() -> UInt64 { lastVersion.add(1, ordering: .relaxed).newValue }

    /// How many observers there are, and how many registrations with a Foundation center.
    var registrations: (observers: Int, captured: Int) {
        (registry.withLock { $0.count }, capture?.count ?? 0)
    }

    package var hasObservers: Bool { registry.withLock { $0.count > 0 } }
}

// The center that a capture is for.
//
// Safety: a weak reference is read and written atomically, and it is set before anything is captured.
private final class WeakCenter: @unchecked Sendable {
    weak var center: ThreadedNotificationCenter?
}

private let lastVersion = Atomic<UInt64>(0)
