internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// A connection from posting threads to handling threads. Each target handles each notification.
struct Channel: Sendable {
    /// Posts a number of notifications on the calling thread.
    var post: @Sendable (Int) -> Void
    /// Ends the targets' threads.
    var end: @Sendable () throws -> Void

    static let name = Notification.Name("benchmark")

    /// This package's center, with an observer on each of the targets' threads.
    static func ours(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws -> Channel {
        try ours(arrivals, conditions) { center, target, thread in
            center.addObserver(forName: name, on: thread) { _ in target.arrive() }
        }
    }

    /// The same, but what the handlers get is made on the posting thread.
    static func transforming(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws -> Channel {
        try ours(arrivals, conditions) { center, target, thread in
            center.addObserver(
                forName: name, on: thread, transform: { $0.name.rawValue.utf8.count }, using: { _ in target.arrive() })
        }
    }

    private static func ours(
        _ arrivals: Arrivals, _ conditions: BenchmarkConditions,
        observe: (ThreadedNotificationCenter, Arrivals.Target, RunLoopThread) -> ObserverToken
    ) throws -> Channel {
        let center = ThreadedNotificationCenter()
        let threads = try arrivals.targets.map { _ in try BenchmarkThread(core: conditions.targetCore) }
        let tokens = zip(arrivals.targets, threads).map { observe(center, $0, $1.thread) }
        return Channel(
            post: { count in
                let notification = Notification(name: name)
                for _ in 0..<count { center.post(notification) }
            },
            end: {
                for token in tokens { token.cancel() }
                for thread in threads { try thread.end() }
            })
    }

    /// Apple's documented technique: for each target, an observer of Foundation's center that redirects notifications.
    static func redirecting(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws -> Channel {
        let center = FoundationPosting()
        let threads = try arrivals.targets.map { _ in try BenchmarkThread(core: conditions.targetCore) }
        for (target, thread) in zip(arrivals.targets, threads) {
            let observer = RedirectingObserver { _ in target.arrive() }
            try thread.thread.performAndWait(timeout: .seconds(10)) { observer.setUpThreadingSupport() }
            center.observe(name) { observer.processNotification($0) }
        }
        return Channel(
            post: { count in center.post(name, count) },
            end: {
                center.removeAll()
                for thread in threads { try thread.end() }
            })
    }

    /// Observers of Foundation's center with serial operation queues.
    static func operationQueues(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) -> Channel {
        let center = FoundationPosting()
        for target in arrivals.targets {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            center.observe(name, queue) { _ in target.arrive() }
        }
        return Channel(post: { count in center.post(name, count) }, end: { center.removeAll() })
    }

    /// A block in a serial queue for each target. libdispatch chooses the threads, so targets are not bound to a core.
    static func dispatchQueues(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) -> Channel {
        let queues = arrivals.targets.map { ($0, DispatchQueue(label: "target")) }
        return Channel(
            post: { count in
                for _ in 0..<count { for (target, queue) in queues { queue.async { target.arrive() } } }
            }, end: {})
    }

    /// A block on the run loop of each target.
    static func runLoops(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws -> Channel {
        let runLoops = try arrivals.targets.map { ($0, try WokenRunLoop(core: conditions.targetCore)) }
        return Channel(
            post: { count in
                for _ in 0..<count { for (target, runLoop) in runLoops { runLoop.perform { target.arrive() } } }
            }, end: { for (_, runLoop) in runLoops { try runLoop.end() } })
    }

    /// A block on the thread of each target.
    static func performing(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws -> Channel {
        let threads = try arrivals.targets.map { ($0, try BenchmarkThread(core: conditions.targetCore)) }
        return Channel(
            post: { count in
                for _ in 0..<count {
                    // A block that the thread rejects is not counted, so the measurement fails.
                    for (target, thread) in threads { try? thread.thread.perform { target.arrive() } }
                }
            }, end: { for (_, thread) in threads { try thread.end() } })
    }
}

/// A Foundation center that any thread posts to.
///
/// Safety: only the measuring thread uses the tokens and queues, and the center has its own lock.
final class FoundationPosting: @unchecked Sendable {
    private let center = NotificationCenter()
    private var tokens: [any NSObjectProtocol] = []
    /// Retained, because an observer is no longer called after its queue is released.
    private var queues: [OperationQueue] = []

    func observe(
        _ name: Notification.Name, _ queue: OperationQueue? = nil, _ handler: @escaping @Sendable (Notification) -> Void
    ) {
        if let queue { queues.append(queue) }
        tokens.append(center.addObserver(forName: name, object: nil, queue: queue, using: handler))
    }

    func post(_ name: Notification.Name, _ count: Int = 1) {
        let notification = Notification(name: name)
        for _ in 0..<count { center.post(notification) }
    }

    func removeAll() {
        for token in tokens { center.removeObserver(token) }
        tokens = []
        queues = []
    }
}
