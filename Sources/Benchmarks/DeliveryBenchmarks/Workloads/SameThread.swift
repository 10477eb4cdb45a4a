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

/// The number of handler calls. Only the posting thread uses it.
private final class CallCount {
    /// A pointer, because access to a class's variable is checked for exclusivity at run time, which would be measured
    /// too.
    private let calls = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    init() {
        calls.initialize(to: 0)
    }

    deinit {
        calls.deallocate()
    }

    func count() {
        calls.pointee += 1
    }

    func expect(_ expected: Int) throws {
        defer { calls.pointee = 0 }
        guard calls.pointee == expected else {
            throw BenchmarkError.miscounted(handled: calls.pointee, posted: expected)
        }
    }
}

private final class ClosureCalls: BenchmarkSubject {
    private final class Handler {
        let body: (Notification) -> Void

        init(_ body: @escaping (Notification) -> Void) {
            self.body = body
        }
    }

    private let count = CallCount()
    private let handlers: [Handler]

    init(_ observers: Int) {
        handlers = (0..<observers).map { [count] _ in Handler { _ in count.count() } }
    }

    func measure(_ operations: Int) throws -> Sample {
        let notification = Notification(name: Channel.name)
        // Unretained, because a retain for each call would cost several times the call; the array retains the handlers.
        let handlers = handlers.map(Unmanaged.passUnretained)
        let sample = Sample.timing(operations) {
            for _ in 0..<operations {
                for handler in handlers { handler._withUnsafeGuaranteedRef { $0.body(notification) } }
            }
        }
        try count.expect(operations * handlers.count)
        return sample
    }

    func end() {}
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
