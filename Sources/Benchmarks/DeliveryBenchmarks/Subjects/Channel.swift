internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// A way from threads that post to threads that handle. Each target handles each notification.
struct Channel: Sendable {
    /// Posts so many, on the calling thread.
    var post: @Sendable (Int) -> Void
    /// Ends the targets' threads.
    var end: @Sendable () throws -> Void

    static let name = Notification.Name("benchmark")

    /// This package's center, with an observer on each of the targets' threads.
    static func ours(_ arrivals: Arrivals, _ places: BenchmarkPlaces) throws -> Channel {
        let center = ThreadedNotificationCenter()
        let threads = try arrivals.targets.map { _ in try BenchmarkThread(core: places.targetCore, spins: places.spins)
        }
        let tokens = zip(arrivals.targets, threads).map { target, thread in
            center.addObserver(forName: name, on: thread.thread) { _ in target.arrive() }
        }
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

    /// The document's technique: an observer of Foundation's center that redirects, for each target.
    static func redirecting(_ arrivals: Arrivals, _ places: BenchmarkPlaces) throws -> Channel {
        let center = FoundationPosting()
        let threads = try arrivals.targets.map { _ in try BenchmarkThread(core: places.targetCore) }
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

    /// Foundation's observers that handle in an operation queue, one at a time.
    static func operationQueues(_ arrivals: Arrivals, _ places: BenchmarkPlaces) -> Channel {
        let center = FoundationPosting()
        for target in arrivals.targets {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            center.observe(name, queue) { _ in target.arrive() }
        }
        return Channel(post: { count in center.post(name, count) }, end: { center.removeAll() })
    }

    /// A block in a serial queue for each target. libdispatch chooses the threads, so a target has no core of its own.
    static func dispatchQueues(_ arrivals: Arrivals, _ places: BenchmarkPlaces) -> Channel {
        let queues = arrivals.targets.map { ($0, DispatchQueue(label: "target")) }
        return Channel(
            post: { count in
                for _ in 0..<count { for (target, queue) in queues { queue.async { target.arrive() } } }
            }, end: {})
    }

    /// A block on a run loop of each target.
    static func runLoops(_ arrivals: Arrivals, _ places: BenchmarkPlaces) throws -> Channel {
        let runLoops = try arrivals.targets.map { ($0, try WokenRunLoop(core: places.targetCore)) }
        return Channel(
            post: { count in
                for _ in 0..<count { for (target, runLoop) in runLoops { runLoop.perform { target.arrive() } } }
            }, end: { for (_, runLoop) in runLoops { try runLoop.end() } })
    }

    /// A block on each of the targets' threads.
    static func performing(_ arrivals: Arrivals, _ places: BenchmarkPlaces) throws -> Channel {
        let threads = try arrivals.targets.map {
            ($0, try BenchmarkThread(core: places.targetCore, spins: places.spins))
        }
        return Channel(
            post: { count in
                for _ in 0..<count {
                    // What a thread refuses does not arrive, and is noticed by that.
                    for (target, thread) in threads { try? thread.thread.perform { target.arrive() } }
                }
            }, end: { for (_, thread) in threads { try thread.end() } })
    }
}

/// A center of Foundation's, posted to by any thread.
//
// Safety: the tokens and queues are only touched by the thread that measures, and the center locks itself.
final class FoundationPosting: @unchecked Sendable {
    private let center = NotificationCenter()
    private var tokens: [any NSObjectProtocol] = []
    /// Kept, because an observer goes silent when its queue is released.
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
