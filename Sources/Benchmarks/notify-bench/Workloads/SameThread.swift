internal import Foundation
internal import PostingQueues
internal import ThreadedNotifications

/// Workloads on one thread, which posts and handles.
enum SameThread {
    private static let name = Channel.name

    static func posts(observers: Int) -> Workload {
        Workload(
            name: "same-thread-\(observers)",
            summary: "post on the thread that handles, \(observers) observer\(observers == 1 ? "" : "s")",
            unit: "ns per notification", control: closureCall,
            contenders: [
                closureCalls(observers),
                Contender("ThreadedNotificationCenter") { _ in .here(calls: observers) { ours($0, observers) } },
                Contender("…, on: .current") { _ in .here(calls: observers) { ours($0, observers, isBound: true) } },
                Contender("NotificationCenter") { _ in .here(calls: observers) { foundation($0, observers) } },
            ])
    }

    /// Posts while observers of other names exist.
    static func names(unrelated: Int) -> Workload {
        // A quick run has fewer, because a million take seconds to create.
        @Sendable func names(_ conditions: BenchmarkConditions) -> [Notification.Name] {
            (0..<(conditions.isQuick ? min(unrelated, 1000) : unrelated)).map { Notification.Name("unrelated \($0)") }
        }
        return Workload(
            name: "names-\(unrelated)",
            summary: "post where \(unrelated) other name\(unrelated == 1 ? " is" : "s are") observed"
                + (unrelated > 1000 ? " (--quick: 1000)" : ""),
            unit: "ns per notification",
            contenders: [
                Contender("ThreadedNotificationCenter") { conditions in .here { ours($0, 1, names(conditions)) } },
                Contender("NotificationCenter") { conditions in .here { foundation($0, 1, names(conditions)) } },
            ])
    }

    /// Enqueues to a notification queue, then runs the run loop once to post.
    static let enqueuing = Workload(
        name: "enqueue", summary: "enqueue, 1000 at a time, and have a run loop pass post them",
        unit: "ns per notification", operations: 100...1_000_000, quickOperations: 10...1_000,
        contenders: [
            Contender("PostingQueue") {
                .later($0) { target in
                    let (center, notification) = (ThreadedNotificationCenter(), Notification(name: name))
                    let queue = PostingQueue(center: center)
                    let token = center.addObserver(forName: name, on: .postingThread) { _ in target.arrive() }
                    return (
                        { queue.enqueue(notification, postingStyle: .asap, coalesceMask: []) }, { token.cancel() }
                    )
                }
            },
            Contender("NotificationQueue") {
                .later($0) { target in
                    let (center, notification) = (NotificationCenter(), Notification(name: name))
                    let queue = NotificationQueue(notificationCenter: center)
                    let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in target.arrive() }
                    return (
                        { queue.enqueue(notification, postingStyle: .asap, coalesceMask: [], forModes: nil) },
                        { center.removeObserver(token) }
                    )
                }
            },
        ])

    // MARK: Contenders

    private static let closureCall = "closure call"

    /// Calls closures, without a center: the baseline.
    private static func closureCalls(_ observers: Int) -> Contender {
        Contender(closureCall) { _ in
            .here(calls: observers) { target in
                let notification = Notification(name: name)
                let handlers: [(Notification) -> Void] = (0..<observers).map { _ in { _ in target.arrive() } }
                return ({ for handler in handlers { handler(notification) } }, {})
            }
        }
    }

    /// - Parameter isBound: true if the observers are on this thread, instead of on any posting thread.
    private static func ours(
        _ target: Arrivals.Target, _ observers: Int, _ others: [Notification.Name] = [], isBound: Bool = false
    ) -> Prepared {
        let (center, notification) = (ThreadedNotificationCenter(), Notification(name: name))
        let tokens = (others + Array(repeating: name, count: observers)).map {
            isBound
                ? center.addObserver(forName: $0, on: .current) { _ in target.arrive() }
                : center.addObserver(forName: $0, on: .postingThread) { _ in target.arrive() }
        }
        return ({ center.post(notification) }, { for token in tokens { token.cancel() } })
    }

    private static func foundation(
        _ target: Arrivals.Target, _ observers: Int, _ others: [Notification.Name] = []
    ) -> Prepared {
        let (center, notification) = (NotificationCenter(), Notification(name: name))
        let tokens = (others + Array(repeating: name, count: observers)).map {
            center.addObserver(forName: $0, object: nil, queue: nil) { _ in target.arrive() }
        }
        return ({ center.post(notification) }, { for token in tokens { center.removeObserver(token) } })
    }
}
