internal import Foundation
internal import ThreadedNotifications

/// Posts on the thread of the handlers.
enum SameThread {
    static func workload(observers: Int) -> Workload {
        Workload(
            name: "same-thread-\(observers)",
            summary: "post on the thread that handles, \(observers) observer\(observers == 1 ? "" : "s")",
            unit: .nanoseconds(per: "notification"), control: "closure call",
            // With very many observers, one post is enough work for a round.
            operations: (observers > 1000 ? 1 : 100)...10_000_000,
            quickOperations: (observers > 1000 ? 1 : 10)...10_000,
            contenders: [
                Contender("closure call") { _ in ClosureCalls(observers) },
                Contender("ThreadedNotificationCenter") { _ in OurPosts(observers, isBound: false) },
                Contender("…, on: .current") { _ in OurPosts(observers, isBound: true) },
                Contender("NotificationCenter") { _ in FoundationPosts(observers) },
            ])
    }
}

private final class OurPosts: BenchmarkSubject {
    private let count = CallCount()
    private let center = ThreadedNotificationCenter()
    private let name = Notification.Name("benchmark")
    private let tokens: [ObserverToken]

    /// - Parameter isBound: true if the observers are on this thread, instead of on any posting thread.
    init(_ observers: Int, isBound: Bool) {
        // Safety: handlers on the posting thread must be Sendable, and this thread is the only one that posts.
        nonisolated(unsafe) let count = count
        tokens = (0..<observers).map { [center, name] _ in
            isBound
                ? center.addObserver(forName: name, on: .current) { _ in count.count() }
                : center.addObserver(forName: name, on: .postingThread) { _ in count.count() }
        }
    }

    func measure(_ operations: Int) throws -> Sample {
        let notification = Notification(name: name)
        let sample = Sample.timing(operations) {
            for _ in 0..<operations { center.post(notification) }
        }
        try count.expect(operations * tokens.count)
        return sample
    }

    func end() {
        for token in tokens { token.cancel() }
    }
}

private final class FoundationPosts: BenchmarkSubject {
    private let count = CallCount()
    private let center = NotificationCenter()
    private let name = Notification.Name("benchmark")
    private let tokens: [any NSObjectProtocol]

    init(_ observers: Int) {
        // Safety: Foundation requires Sendable handlers. It calls these on the posting thread, which is this one.
        nonisolated(unsafe) let count = count
        tokens = (0..<observers).map { [center, name] _ in
            center.addObserver(forName: name, object: nil, queue: nil) { _ in count.count() }
        }
    }

    func measure(_ operations: Int) throws -> Sample {
        let notification = Notification(name: name)
        let sample = Sample.timing(operations) {
            for _ in 0..<operations { center.post(notification) }
        }
        try count.expect(operations * tokens.count)
        return sample
    }

    func end() {
        for token in tokens { center.removeObserver(token) }
    }
}
