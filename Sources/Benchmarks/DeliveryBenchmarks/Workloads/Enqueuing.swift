internal import Foundation
internal import PostingQueues
internal import ThreadedNotifications

/// Enqueues to a notification queue, then runs the run loop once to post.
enum Enqueuing {
    static func workload(isCoalescing: Bool) -> Workload {
        Workload(
            name: isCoalescing ? "enqueue-coalescing" : "enqueue",
            summary: isCoalescing
                ? "enqueue, 1000 at a time that become one, which a run loop pass posts"
                : "enqueue, 1000 at a time, and have a run loop pass post them",
            unit: .nanoseconds(per: "notification"),
            operations: 100...1_000_000, quickOperations: 10...1_000,
            contenders: [
                Contender("PostingQueue") { OurQueue(isCoalescing, $0) },
                Contender("NotificationQueue") { FoundationQueue(isCoalescing, $0) },
            ])
    }

    /// - Parameters:
    ///   - handled: the number handled since the round began.
    ///   - enqueue: enqueues one notification.
    static func measure(
        _ operations: Int, isCoalescing: Bool, timeout: Duration, handled: () -> Int, enqueue: () throws -> Void
    ) throws -> Sample {
        let deadline = SuspendingClock.now + timeout
        var expected = 0
        let sample = try Sample.timing(operations) {
            var left = operations
            while left > 0 {
                let batch = min(left, 1000)
                left -= batch
                for _ in 0..<batch { try enqueue() }
                expected += isCoalescing ? 1 : batch
                while handled() < expected {
                    guard SuspendingClock.now < deadline else {
                        throw BenchmarkError.timedOut(waitingFor: "the run loop to post", after: timeout)
                    }
                    RunLoop.runCurrent(for: 0)
                }
            }
        }
        guard handled() == expected else { throw BenchmarkError.miscounted(handled: handled(), posted: expected) }
        return sample
    }
}

/// The number of handled notifications.
///
/// Safety: only the measuring thread uses it, and the handlers run on that thread.
final class HandledCount: @unchecked Sendable {
    var count = 0
}

private final class OurQueue: BenchmarkSubject {
    private let isCoalescing: Bool
    private let timeout: Duration
    private let handled = HandledCount()
    private let center = ThreadedNotificationCenter()
    private let queue: PostingQueue
    private let token: ObserverToken

    init(_ isCoalescing: Bool, _ conditions: BenchmarkConditions) {
        self.isCoalescing = isCoalescing
        timeout = conditions.timeout
        queue = PostingQueue(center: center)
        token = center.addObserver(forName: Channel.name, on: .postingThread) { [handled] _ in handled.count += 1 }
    }

    func measure(_ operations: Int) throws -> Sample {
        handled.count = 0
        let notification = Notification(name: Channel.name)
        let mask: NotificationQueue.NotificationCoalescing = isCoalescing ? [.onName, .onSender] : []
        return try Enqueuing.measure(
            operations, isCoalescing: isCoalescing, timeout: timeout, handled: { handled.count },
            enqueue: { queue.enqueue(notification, postingStyle: .asap, coalesceMask: mask) })
    }

    func end() {
        token.cancel()
    }
}

private final class FoundationQueue: BenchmarkSubject {
    private let isCoalescing: Bool
    private let timeout: Duration
    private let handled = HandledCount()
    private let center = NotificationCenter()
    private let queue: NotificationQueue
    private let token: any NSObjectProtocol

    init(_ isCoalescing: Bool, _ conditions: BenchmarkConditions) {
        self.isCoalescing = isCoalescing
        timeout = conditions.timeout
        queue = NotificationQueue(notificationCenter: center)
        token = center.addObserver(forName: Channel.name, object: nil, queue: nil) { [handled] _ in handled.count += 1 }
    }

    func measure(_ operations: Int) throws -> Sample {
        handled.count = 0
        let notification = Notification(name: Channel.name)
        let mask: NotificationQueue.NotificationCoalescing = isCoalescing ? [.onName, .onSender] : []
        return try Enqueuing.measure(
            operations, isCoalescing: isCoalescing, timeout: timeout, handled: { handled.count },
            enqueue: { queue.enqueue(notification, postingStyle: .asap, coalesceMask: mask, forModes: nil) })
    }

    func end() {
        center.removeObserver(token)
    }
}
