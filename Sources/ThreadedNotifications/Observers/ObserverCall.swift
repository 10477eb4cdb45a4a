internal import Foundation

/// The one place where handlers are called and outcomes are settled: every delivery of every kind ends here.
///
///     begin ─► count ─► trace ─► handler ─► trace ─► end ─► release the waiting poster
///
/// Threads: `run` and `runAtOnce` are called on the target thread, `transform` on the posting thread, `resolve` on any.
enum ObserverCall {
    /// Delivers what was enqueued, unless the observer was removed.
    @inline(__always)
    static func run(_ observer: Observer, with delivery: Delivery, _ context: ThreadContext) {
        guard delivery.begins(for: observer) else { return resolve(observer, .coalesced, delivery) }
        guard let handler = observer.begin() else { return resolve(observer, .cancelled, delivery) }
        context.handlersUnderWay.begin(observer, delivery.wait)
        var isCalled = true
        if observer.isSimple {
            observer.counters.countDelivered()
            handler._withUnsafeGuaranteedRef { handler in
                call(observer, delivery) { handler.handle(delivery.notification) }
            }
        } else {
            isCalled = callAnyKind(of: handler, observer, with: delivery)
        }
        context.handlersUnderWay.end()
        observer.end()
        // Last: the handler and its object are released before a waiting poster continues.
        if isCalled { delivery.wait?.resolve(observer.id, .delivered) } else { resolve(observer, .cancelled, delivery) }
    }

    /// Delivers before `post` returns.
    /// - Parameter overtakes: whether other deliveries for the observer's thread wait.
    /// - Returns: nil if the observer's transform returned nil.
    @inline(__always)
    static func runAtOnce(
        _ observer: Observer, with notification: Notification, of post: Post, _ context: ThreadContext,
        overtakes: Bool = false
    ) -> DeliveryOutcome? {
        context.nest(notification.name.rawValue) {
            guard observer.isSimple else {
                return runAnyKindAtOnce(observer, with: notification, of: post, context, overtakes: overtakes)
            }
            guard let handler = observer.beginAtOnce() else {
                return skip(observer, notification.name, post, .cancelled)
            }
            context.handlersUnderWay.begin(observer, post.wait)
            handler._withUnsafeGuaranteedRef { handler in
                callAtOnce(observer, notification.name, post, overtakes) { handler.handle(notification) }
            }
            context.handlersUnderWay.end()
            observer.end()
            return .delivered
        }
    }

    /// Delivers a value, unless the observer was removed.
    @inline(__always)
    static func runAtOnce(
        _ observer: Observer, withValue value: Any, _ name: Notification.Name, post: UInt64, _ context: ThreadContext
    ) {
        context.nest(name.rawValue) {
            guard let handler = observer.beginAtOnce() else {
                observer.counters.countPosted()
                return resolve(observer, .cancelled, name, post: post, wait: nil)
            }
            context.handlersUnderWay.begin(observer, nil)
            handler._withUnsafeGuaranteedRef { handler in
                if post != 0 {
                    traceCall(observer, name, post, false) { handler.handleValue(value) }
                } else {
                    handler.handleValue(value)
                }
            }
            context.handlersUnderWay.end()
            observer.end()
        }
    }

    /// Calls an observer's transform, or makes its message.
    /// - Returns: the value; or the outcome, which is nil if there is no value.
    static func transform(
        _ notification: Notification, for observer: Observer, of post: Post, _ context: ThreadContext
    ) -> (value: Any?, outcome: DeliveryOutcome?) {
        if let message = post.message, message.typeIdentifier == observer.messageType { return (message.copy, nil) }
        guard let handler = observer.begin() else {
            return (nil, skip(observer, notification.name, post, .cancelled))
        }
        context.handlersUnderWay.begin(observer, nil)
        let value = handler._withUnsafeGuaranteedRef { Self.value(of: notification, for: $0) }
        context.handlersUnderWay.end()
        observer.end()
        return (value, value == nil ? skip(observer, notification.name, post, nil) : nil)
    }

    private static func value(of notification: Notification, for handler: ObserverHandler) -> Any? {
        switch handler.kind {
        case .value(let transform, _, _): transform(notification)
        case .message(let handler): handler.name.makeMessage(notification)
        case .async(let handler): handler.makeValue(notification)
        case .notification, .threadBound, .method: nil
        }
    }

    // MARK: Outcomes without a call

    /// Counts and traces an outcome, and releases the waiting poster.
    /// - Parameters:
    ///   - other: for a coalesced notification, the number of the post that replaces it.
    ///   - reason: for a notification that is `targetGone`, the reason.
    static func resolve(
        _ observer: Observer, _ outcome: DeliveryOutcome, _ delivery: Delivery, replacedBy other: UInt64 = 0,
        reason: DeliveryEvent.Reason? = nil
    ) {
        resolve(
            observer, outcome, delivery.name(for: observer), post: delivery.post, wait: delivery.wait,
            replacedBy: other, reason: reason)
    }

    static func resolve(
        _ observer: Observer, _ outcome: DeliveryOutcome, _ name: Notification.Name, post: UInt64, wait: DeliveryWait?,
        replacedBy other: UInt64 = 0, reason: DeliveryEvent.Reason? = nil
    ) {
        observer.counters.count(outcome)
        let stage: DeliveryEvent.Stage =
            switch outcome {
            case .delivered: .deliver
            case .waiting: .append
            case .coalesced: .coalesce
            case .dropped, .refused: .drop
            case .cancelled: .cancel
            case .targetGone: .targetGone
            }
        DeliveryEvent.trace(
            stage, name: name, post: post, observer: observer.id, target: observer.mailbox?.identity,
            relatedPost: other, policy: stage == .drop ? observer.options.overflow : nil, reason: reason)
        wait?.resolve(observer.id, outcome)
    }

    /// Traces that an observer does not get a notification that it matched.
    private static func skip(
        _ observer: Observer, _ name: Notification.Name, _ post: Post, _ outcome: DeliveryOutcome?
    ) -> DeliveryOutcome? {
        DeliveryEvent.trace(
            .skip, name: name, post: post.number, observer: observer.id, target: observer.mailbox?.identity)
        post.wait?.resolve(observer.id, .cancelled)
        return outcome
    }

    // MARK: Handlers of every kind

    /// When it returns, the handler and its object are no longer retained here.
    @inline(never)
    private static func runAnyKindAtOnce(
        _ observer: Observer, with notification: Notification, of post: Post, _ context: ThreadContext, overtakes: Bool
    ) -> DeliveryOutcome? {
        if let message = post.message, message.typeIdentifier == observer.messageType {
            return runAtOnce(observer, with: message, notification.name, of: post, context, overtakes)
        }
        guard let handler = observer.begin() else { return skip(observer, notification.name, post, .cancelled) }
        context.handlersUnderWay.begin(observer, post.wait)
        var isSettled = false
        let outcome = callAnyKindAtOnce(of: handler, observer, with: notification, post, overtakes, &isSettled)
        context.handlersUnderWay.end()
        observer.end()
        return isSettled ? outcome : skip(observer, notification.name, post, outcome)
    }

    /// Calls the handler with the message that was posted.
    @inline(__always)
    private static func runAtOnce(
        _ observer: Observer, with message: PostedMessage, _ name: Notification.Name, of post: Post,
        _ context: ThreadContext, _ overtakes: Bool
    ) -> DeliveryOutcome? {
        guard let handler = observer.beginAtOnce() else { return skip(observer, name, post, .cancelled) }
        context.handlersUnderWay.begin(observer, post.wait)
        handler._withUnsafeGuaranteedRef { handler in
            callAtOnce(observer, name, post, overtakes) { handler.handleMessage(message.address) }
        }
        context.handlersUnderWay.end()
        observer.end()
        return .delivered
    }

    @inline(never)
    private static func callAnyKindAtOnce(
        of handler: Unmanaged<ObserverHandler>, _ observer: Observer, with notification: Notification, _ post: Post,
        _ overtakes: Bool, _ isSettled: inout Bool
    ) -> DeliveryOutcome? {
        func call(_ handle: () -> Void) -> DeliveryOutcome {
            isSettled = true
            observer.counters.countAtOnce(1)
            callAtOnce(observer, notification.name, post, overtakes, handle)
            return .delivered
        }
        /// - Parameter value: what the transform returned.
        func call(with value: Any?, _ handle: (Any) -> Void) -> DeliveryOutcome? {
            guard let value else { return nil }
            guard observer.isCancelled else { return call { handle(value) } }
            // The transform removed the observer. The value was made for it, and has an outcome (guarantee 14).
            isSettled = true
            observer.counters.countPosted()
            resolve(observer, .cancelled, notification.name, post: post.number, wait: post.wait)
            return .cancelled
        }
        switch handler.takeUnretainedValue().kind {
        case .notification(let handle): return call { handle(notification) }
        case .threadBound(let handle): return call { handle(notification) }
        case .value(let transform, _, let handle): return call(with: transform(notification), handle)
        case .message(let message):
            return call(
                with: message.name.makeMessage(notification), handler.takeUnretainedValue().handleMessage(copy:))
        // It has a mailbox that belongs to no thread, so it is never called at once.
        case .async: return nil
        case .method(let reference, _, let method):
            guard let object = reference.object else { return .cancelled }
            return call { method(object, notification) }
        }
    }

    /// - Returns: false if the handler is a method of an object that has been deallocated.
    @inline(never)
    private static func callAnyKind(
        of handler: Unmanaged<ObserverHandler>, _ observer: Observer, with delivery: Delivery
    ) -> Bool {
        func call(_ handle: () -> Void) -> Bool {
            // Several threads may deliver values to an observer without a target thread.
            if observer.mailbox == nil {
                observer.counters.countDeliveredOnAnyThread()
            } else {
                observer.counters.countDelivered()
            }
            self.call(observer, delivery, handle)
            return true
        }
        if observer.transforms {
            guard let value = delivery.value else { return false }
            let isMessage = observer.messageType != nil
            return call {
                handler._withUnsafeGuaranteedRef { isMessage ? $0.handleMessage(copy: value) : $0.handleValue(value) }
            }
        }
        switch handler.takeUnretainedValue().kind {
        case .notification(let handle): return call { handle(delivery.notification) }
        case .threadBound(let handle): return call { handle(delivery.notification) }
        // Values and messages were delivered above, and `TaskDrain` delivers to async handlers.
        case .value, .message, .async: return false
        case .method(let reference, _, let method):
            guard let object = reference.object else {
                observer.cancel()
                return false
            }
            return call { method(object, delivery.notification) }
        }
    }

    // MARK: Tracing

    @inline(__always)
    private static func call(
        _ observer: Observer, _ delivery: Delivery, _ handle: () -> Void
    ) {
        guard delivery.post != 0 || DeliveryEvent.isWatched else { return handle() }
        traceCall(observer, delivery.name(for: observer), delivery.post, false, handle)
    }

    /// A post that nothing traced has no number; then its handlers called at once are not traced either.
    @inline(__always)
    private static func callAtOnce(
        _ observer: Observer, _ name: Notification.Name, _ post: Post, _ overtakes: Bool, _ handle: () -> Void
    ) {
        if post.number != 0 { traceCall(observer, name, post.number, overtakes, handle) } else { handle() }
    }

    @inline(never)
    private static func traceCall(
        _ observer: Observer, _ name: Notification.Name, _ post: UInt64, _ overtakes: Bool, _ handle: () -> Void
    ) {
        DeliveryEvent.trace(
            .deliver, name: name, post: post, observer: observer.id, target: observer.mailbox?.identity,
            overtakes: overtakes)
        handle()
        DeliveryEvent.trace(.return, name: name, post: post, observer: observer.id)
    }
}
