internal import DeliveryDiagnostics
internal import Foundation
internal import ThreadedNotifications

/// Workloads in which threads post to others.
enum OtherThreads {
    static func burst(posters: Int) -> Workload {
        Workload(
            name: "burst-\(posters)",
            summary: "\(posters) thread\(posters == 1 ? " posts" : "s post") to one other thread",
            unit: "ns per notification", control: Channel.control,
            contenders: contenders { try .burst(posters: posters, $0, through: $1) })
    }

    static func fanOut(targets: Int) -> Workload {
        Workload(
            name: "fan-out-\(targets)",
            summary: "one thread posts to \(targets) others, each handles each notification",
            unit: "ns per notification", control: Channel.control,
            contenders: contenders { try .burst(targets: targets, $0, through: $1) })
    }

    /// Posts with content: a message, or a notification with a userInfo dictionary.
    static let typedBurst = Workload(
        name: "typed-burst", summary: "1 thread posts messages to one other thread", unit: "ns per message",
        control: Channel.control,
        contenders: [
            Contender(Channel.control) { try .burst($0, through: Channel.throughControl) },
            Contender("ThreadedNotificationCenter") { try .burst($0, through: messages) },
            Contender("…, a notification") { try .burst($0, through: Channel.throughCenter) },
            Contender("…, userInfo and transform") { try .burst($0, through: userInfos) },
        ])

    /// - Parameter interval: its name, and the number of nanoseconds.
    static func paced(every interval: (name: String, nanoseconds: Int64)) -> Workload {
        // A round has at least 20 posts, and lasts at most a second.
        let most = Int(1_000_000_000 / interval.nanoseconds)
        let text = ElapsedTime.text(UInt64(interval.nanoseconds))
        let all = contenders { try .paced(every: interval.nanoseconds, $0, through: $1) }
        return Workload(
            name: "paced-\(interval.name)", summary: "one thread posts every \(text) to another, which sleeps",
            unit: "ns per notification", control: Channel.control, operations: min(100, most / 5)...most,
            quickOperations: 5...20,
            contenders: all[..<2] + [
                Contender("…, with a transform") {
                    try .paced(every: interval.nanoseconds, $0, through: Channel.transforming)
                },
                Contender("perform") { try .paced(every: interval.nanoseconds, $0, through: Channel.performing) },
            ] + all[2...])
    }

    static let performing = Workload(
        name: "perform", summary: "one thread performs blocks on another", unit: "ns per block",
        control: Channel.control,
        contenders: [
            Contender(Channel.control) { try .burst($0, through: Channel.throughControl) },
            Contender("RunLoopThread.perform") { try .burst($0, through: Channel.performing) },
            Contender("DispatchQueue.async") { try .burst($0, through: Channel.dispatchQueues) },
        ])

    static let roundTrip = Workload(
        name: "round-trip", summary: "two threads post to each other in turn", unit: "ns per round trip",
        control: Channel.control, operations: 100...100_000, quickOperations: 10...1_000,
        // Foundation waits for the operation of an observer with a queue, so two that answer each other never end.
        contenders: contenders { try .roundTrip($0, through: $1) }.filter { $0.name != "addObserver(queue:)" })

    static let waiting = Workload(
        name: "wait-until-delivered", summary: "post to another thread, and wait until it has handled that",
        unit: "ns per notification", control: Channel.control, operations: 100...100_000, quickOperations: 10...1_000,
        contenders: [
            Contender(Channel.control) { try .waiting($0, through: Channel.throughControl) },
            Contender("ThreadedNotificationCenter") { conditions in
                try .calls { arrivals in
                    let (center, notification) = (ThreadedNotificationCenter(), Notification(name: Channel.name))
                    let (thread, target) = (try RunLoopThread.started(), arrivals.targets[0])
                    let token = center.addObserver(forName: Channel.name, on: thread) { _ in target.arrive() }
                    return (
                        { try center.postAndWait(notification, timeout: conditions.timeout) },
                        {
                            token.cancel()
                            try thread.end()
                        }
                    )
                }
            },
            Contender("performAndWait(timeout:)") { conditions in
                try .calls { arrivals in
                    let (thread, target) = (try RunLoopThread.started(), arrivals.targets[0])
                    return (
                        { try thread.performAndWait(timeout: conditions.timeout) { target.arrive() } },
                        { try thread.end() }
                    )
                }
            },
            // Not `sync`: libdispatch would run the block on the calling thread if the queue is idle.
            Contender("DispatchQueue.async, wait") { try .waiting($0, through: Channel.dispatchQueues) },
        ])

    /// Shows if the cost of a notification grows with the number that wait.
    static func backlog(millions: Int) -> Workload {
        let count = millions * 1_000_000
        return Workload(
            name: "backlog-\(millions)",
            summary: "\(millions) million wait for a held thread (--quick: a thousandth)",
            unit: "ns per notification", control: Channel.control, operations: count...count,
            quickOperations: count / 1000...count / 1000,
            contenders: [
                Contender(Channel.control) { try .backlog($0, through: Channel.throughControl) },
                Contender("ThreadedNotificationCenter") { try .backlog($0, through: Channel.throughCenter) },
            ])
    }

    // MARK: Contenders

    private static func contenders(
        _ subject: @escaping @Sendable (BenchmarkConditions, Channel.Opening) throws -> Subject
    ) -> [Contender] {
        Channel.ways.map { way in Contender(way.name) { try subject($0, way.open) } }
    }

    private static let messages: Channel.Opening = { handlers in
        try Channel.center(handlers) { center, thread, handler in
            center.addObserver(for: Numbered.self, on: thread) { message in
                for _ in 0..<message.number { handler() }
            }
        } post: {
            $0.post(Numbered(number: 1))
        }
    }

    private static let userInfos: Channel.Opening = { handlers in
        try Channel.center(handlers) { center, thread, handler in
            center.addObserver(
                forName: Channel.name, on: thread, transform: { $0.userInfo?["number"] as? Int },
                using: { number in for _ in 0..<number { handler() } })
        } post: {
            $0.post(name: Channel.name, userInfo: ["number": 1])
        }
    }
}

private final class MessageSubject: Sendable {}

private struct Numbered: NotificationCenter.AsyncMessage {
    typealias Subject = MessageSubject
    let number: Int
}
