internal import CControl
internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// The memory of a notification that waits, without the notification itself.
enum Memory {
    static let workload = Workload(
        name: "memory",
        summary: "what waits, beyond the notification's own \(notificationSize) bytes",
        unit: .bytes(per: "notification"), control: "C queue",
        operations: 100_000...100_000, quickOperations: 10_000...10_000,
        contenders: [
            // The queue contains only words, so nothing is subtracted.
            Contender("C queue") { _ in WaitingMemory(ownBytes: 0, fill: fillControl) },
            Contender("ThreadedNotificationCenter") { _ in WaitingMemory(ownBytes: notificationSize, fill: fillOurs) },
            Contender("RedirectingObserver") { _ in WaitingMemory(ownBytes: notificationSize, fill: fillRedirecting) },
            Contender("DispatchQueue.async") { _ in WaitingMemory(ownBytes: notificationSize, fill: fillDispatch) },
        ])

    /// True if the program allocates from glibc. A sanitizer does not report its memory use.
    static var canBeMeasured: Bool { CControlKnowsBytesInUse() }

    private static let notificationSize = MemoryLayout<Notification>.stride

    // Each function makes `count` notifications wait, and returns a function that releases them.

    private static func fillControl(_ count: Int) throws -> () -> Void {
        guard let queue = CControlQueueCreate({ _, _ in }, nil) else {
            throw BenchmarkError.notMade("the control's queue", code: 0)
        }
        for word in 0..<count { CControlQueueAppend(queue, UInt(word)) }
        return { CControlQueueDestroy(queue) }
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
        let (center, observer) = (FoundationPosting(), RedirectingObserver { _ in })
        center.observe(Channel.name) { observer.processNotification($0) }
        center.post(Channel.name, count)
        return { center.removeAll() }
    }

    private static func fillDispatch(_ count: Int) throws -> () -> Void {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let waiting = WaitingNotification(notification: Notification(name: Channel.name))
        for _ in 0..<count { queue.async { waiting.handle() } }
        return {
            queue.resume()
            queue.sync {}
        }
    }
}

/// A notification that a block retains.
///
/// Safety: it has neither an object nor a userInfo, and is never changed.
private struct WaitingNotification: @unchecked Sendable {
    let notification: Notification

    func handle() {}
}

private final class WaitingMemory: BenchmarkSubject {
    private let ownBytes: Int
    private let fill: (Int) throws -> () -> Void

    init(ownBytes: Int, fill: @escaping (Int) throws -> () -> Void) {
        self.ownBytes = ownBytes
        self.fill = fill
    }

    func measure(_ operations: Int) throws -> Sample {
        let before = CControlBytesInUse()
        let release = try fill(operations)
        let taken = Int(CControlBytesInUse()) - Int(before)
        release()
        return Sample(operations: operations, total: Double(taken - ownBytes * operations))
    }

    func end() {}
}
