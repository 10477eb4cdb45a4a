internal import CControl
internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// Workloads whose figures are memory.
enum Memory {
    /// The memory of a notification that waits, without the notification itself.
    static let waiting = Workload(
        name: "memory", summary: "what waits, beyond the notification's own \(notificationSize) bytes",
        unit: "bytes per notification", control: Channel.control, operations: 100_000...100_000,
        quickOperations: 10_000...10_000,
        contenders: [
            // The queue contains only words, so nothing is subtracted.
            Contender(Channel.control) { _ in taken(ownBytes: 0, by: fillControl) },
            Contender("ThreadedNotificationCenter") { _ in taken(by: fillOurs) },
            Contender("RedirectingObserver") { _ in taken(by: fillRedirecting) },
            Contender("DispatchQueue.async") { _ in taken(by: fillDispatch) },
        ])

    /// The allocations for a notification that is delivered to another thread. Bursts are short, because the memory of
    /// a long backlog is not kept for reuse.
    static let allocations = Workload(
        name: "allocations", summary: "allocations by all threads while one posts to another, warmed up",
        unit: "allocations per notification", operations: 10...10_000, quickOperations: 10...1_000,
        contenders: Channel.ways.dropFirst().map { way in
            Contender(way.name) { try .allocations($0, through: way.open) }
        })

    private static let notificationSize = MemoryLayout<Notification>.stride

    /// - Parameter fill: makes a number of notifications wait, and returns a function that releases them.
    private static func taken(
        ownBytes: Int = notificationSize, by fill: @escaping (Int) throws -> () -> Void
    ) -> Subject {
        Subject { operations in
            let before = Int(CControlBytesInUse())
            let release = try fill(operations)
            let taken = Int(CControlBytesInUse()) - before
            release()
            return Sample(operations: operations, total: Double(taken - ownBytes * operations))
        }
    }

    private static func fillControl(_ count: Int) throws -> () -> Void {
        guard let queue = CControlQueueCreate({ _, _ in }, nil) else {
            throw BenchmarkError.notMade("the control's queue", code: errno)
        }
        for word in 0..<count { CControlQueueAppend(queue, UInt(word)) }
        return {
            CControlQueueEnd(queue)
            CControlQueueRun(queue)
        }
    }

    private static func fillOurs(_ count: Int) throws -> () -> Void {
        let (center, thread) = (ThreadedNotificationCenter(), RunLoopThread(name: "not started"))
        let token = center.addObserver(forName: Channel.name, on: thread) { _ in }
        let notification = Notification(name: Channel.name)
        for _ in 0..<count { center.post(notification) }
        let waiting = token.counters.waiting
        guard waiting == count else { throw BenchmarkError.miscounted(handled: waiting, posted: count) }
        return {
            token.cancel()
            thread.stop()
        }
    }

    private static func fillRedirecting(_ count: Int) throws -> () -> Void {
        // The observer has no thread, so it keeps the notifications.
        let (observer, notification) = (RedirectingObserver { _ in }, Notification(name: Channel.name))
        for _ in 0..<count { observer.processNotification(notification) }
        return { withExtendedLifetime(observer) {} }
    }

    private static func fillDispatch(_ count: Int) throws -> () -> Void {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        // Safety: it has neither an object nor a userInfo, and is never changed.
        nonisolated(unsafe) let notification = Notification(name: Channel.name)
        for _ in 0..<count { queue.async { withExtendedLifetime(notification) {} } }
        return {
            queue.resume()
            queue.sync {}
        }
    }
}
