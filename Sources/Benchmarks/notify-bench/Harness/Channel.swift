internal import CControl
internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// A connection from posting threads to handling threads: each post calls each handler on the handler's thread.
struct Channel: Sendable {
    typealias Handler = @Sendable () -> Void
    /// Opens a channel with a thread for each handler.
    typealias Opening = @Sendable (_ handlers: [Handler]) throws -> Channel

    /// Posts once, on the calling thread.
    var post: @Sendable () -> Void
    /// Ends the handlers' threads.
    var end: @Sendable () throws -> Void = {}

    static let name = Notification.Name("benchmark")

    /// The ways to open a channel that are compared, with their contenders' names. The first is the baseline.
    static let ways: [(name: String, open: Opening)] = [
        (control, throughControl), ("ThreadedNotificationCenter", throughCenter), ("RedirectingObserver", redirecting),
        ("addObserver(queue:)", operationQueues), ("DispatchQueue.async", dispatchQueues),
    ]
    static let control = "C queue"

    /// The baseline in C: a queue with an eventfd for each handler.
    static let throughControl: Opening = { handlers in
        let queues = try handlers.map { try ControlQueue($0) }
        return Channel(
            post: { for queue in queues { queue.post() } },
            end: { for queue in queues { queue.end() } })
    }

    /// This package's center, with an observer on each handler's thread.
    static let throughCenter: Opening = { handlers in
        // Safety: it has neither an object nor a userInfo, and is never changed.
        nonisolated(unsafe) let notification = Notification(name: name)
        return try center(handlers) { center, thread, handler in
            center.addObserver(forName: name, on: thread) { _ in handler() }
        } post: {
            $0.post(notification)
        }
    }

    /// The same, with a transform on the posting thread.
    static let transforming: Opening = { handlers in
        // Safety: it has neither an object nor a userInfo, and is never changed.
        nonisolated(unsafe) let notification = Notification(name: name)
        return try center(handlers) { center, thread, handler in
            center.addObserver(
                forName: name, on: thread, transform: { $0.name.rawValue.utf8.count }, using: { _ in handler() })
        } post: {
            $0.post(notification)
        }
    }

    /// - Parameter observe: adds an observer that calls the handler on the thread.
    static func center(
        _ handlers: [Handler],
        observe: (ThreadedNotificationCenter, RunLoopThread, @escaping Handler) -> ObserverToken,
        post: @escaping @Sendable (ThreadedNotificationCenter) -> Void
    ) throws -> Channel {
        let center = ThreadedNotificationCenter()
        let threads = try handlers.map { _ in try RunLoopThread.started() }
        let tokens = zip(threads, handlers).map { observe(center, $0, $1) }
        return Channel(
            post: { post(center) },
            end: {
                for token in tokens { token.cancel() }
                for thread in threads { try thread.end() }
            })
    }

    /// Apple's documented technique: for each handler, an observer of Foundation's center that redirects notifications.
    static let redirecting: Opening = { handlers in
        let threads = try handlers.map { _ in try RunLoopThread.started() }
        let observers = try zip(threads, handlers).map { thread, handler in
            let observer = RedirectingObserver { _ in handler() }
            try thread.performAndWait(timeout: .seconds(10)) { observer.setUpThreadingSupport() }
            return observer
        }
        return foundation(observers.map { observer in (nil, { observer.processNotification($0) }) }) {
            for thread in threads { try thread.end() }
        }
    }

    /// Observers of Foundation's center with serial operation queues.
    static let operationQueues: Opening = { handlers in
        foundation(
            handlers.map { handler in
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = 1
                return (queue, { _ in handler() })
            })
    }

    private static func foundation(
        _ observers: [(queue: OperationQueue?, call: @Sendable (Notification) -> Void)],
        end: @escaping @Sendable () throws -> Void = {}
    ) -> Channel {
        let center = NotificationCenter()
        // Safety: it has neither an object nor a userInfo, and is never changed.
        nonisolated(unsafe) let notification = Notification(name: name)
        // Safety: they are only kept until the end. An observer is no longer called after its queue is released.
        nonisolated(unsafe) let kept = observers.map { queue, call in
            (queue, center.addObserver(forName: name, object: nil, queue: queue, using: call))
        }
        return Channel(
            post: { center.post(notification) },
            end: {
                for (_, token) in kept { center.removeObserver(token) }
                try end()
            })
    }

    /// A block in a serial queue for each handler. libdispatch chooses the threads.
    static let dispatchQueues: Opening = { handlers in
        let queues = handlers.map { ($0, DispatchQueue(label: "target")) }
        return Channel(post: { for (handler, queue) in queues { queue.async { handler() } } })
    }

    /// A block that is performed on each handler's thread.
    static let performing: Opening = { handlers in
        let threads = try handlers.map { ($0, try RunLoopThread.started()) }
        return Channel(
            // A block that the thread rejects is not counted, so the measurement fails.
            post: { for (handler, thread) in threads { try? thread.perform { handler() } } },
            end: { for (_, thread) in threads { try thread.end() } })
    }
}

/// A queue in C with a thread, which calls a handler for each word.
///
/// Safety: the queue has a lock, and it is ended once, after the last post.
private struct ControlQueue: @unchecked Sendable {
    private let queue: OpaquePointer

    init(_ handler: @escaping Channel.Handler) throws(BenchmarkError) {
        // Safety: the handler is Sendable, and its memory is freed after the queue's last call.
        nonisolated(unsafe) let memory = UnsafeMutablePointer<Channel.Handler>.allocate(capacity: 1)
        memory.initialize(to: handler)
        let call: CControlHandler = { context, _ in context?.assumingMemoryBound(to: Channel.Handler.self).pointee() }
        guard let made = CControlQueueCreate(call, memory) else {
            throw .notMade("the control's queue", code: errno)
        }
        // Safety: as for this type.
        nonisolated(unsafe) let queue = made
        self.queue = queue
        Thread.detachNewThread {
            CControlQueueRun(queue)
            memory.deinitialize(count: 1).deallocate()
        }
    }

    func post() { CControlQueueAppend(queue, 1) }

    func end() { CControlQueueEnd(queue) }
}
