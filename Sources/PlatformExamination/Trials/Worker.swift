internal import Foundation
internal import ThreadedNotifications

/// The place where an observer's handler runs: an operation queue of Foundation, or a thread of this package.
struct Worker: Sendable {
    /// Nil for this package.
    var queue: OperationQueue?
    /// Nil for Foundation.
    var target: (any DeliveryTarget)?

    static func main(_ side: Question.Side) -> Worker {
        side == .foundation ? Worker(queue: .main) : Worker(target: MainThread.main)
    }

    /// A new queue, or a new thread that is started.
    static func started(_ side: Question.Side, name: String = "worker") throws -> Worker {
        guard side == .ours else {
            let queue = OperationQueue()
            queue.name = name
            return Worker(queue: queue)
        }
        let thread = RunLoopThread(name: name)
        try thread.start()
        return Worker(target: thread)
    }

    func perform(_ block: @escaping @Sendable () -> Void) throws {
        queue?.addOperation(block)
        try target?.perform(block)
    }

    /// The name of the queue or thread that the caller runs in.
    static func currentName(_ side: Question.Side) -> String? {
        side == .foundation ? OperationQueue.current?.name : ThreadIdentity.current.name
    }
}
