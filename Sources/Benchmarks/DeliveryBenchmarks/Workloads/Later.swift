internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// Posts on the thread that handles, and has its run loop deliver: 1000 at a time.
enum Later {
    static let workload = Workload(
        name: "later",
        summary: "post on the thread that handles, 1000 at a time, and have its run loop deliver",
        unit: .nanoseconds(per: "notification"), control: "…, .ordered: at once",
        operations: 100...1_000_000, quickOperations: 10...1_000,
        contenders: [
            Contender("…, .ordered: at once") { posting(.ordered, $0) },
            Contender("ThreadedNotificationCenter, .later") { posting(.later, $0) },
            Contender("performLater") { conditions in
                LaterSubject(conditions) { handled in try MainThread.main.performLater { handled.count += 1 } }
            },
            Contender("DispatchQueue.main.async") { conditions in
                LaterSubject(conditions) { handled in DispatchQueue.main.async { handled.count += 1 } }
            },
            Contender("RunLoop.perform") { conditions in
                LaterSubject(conditions) { handled in RunLoop.current.perform { handled.count += 1 } }
            },
        ])

    private static func posting(_ policy: SameThreadPolicy, _ conditions: BenchmarkConditions) -> LaterSubject {
        let (center, handled) = (ThreadedNotificationCenter(), HandledCount())
        let token = center.addObserver(
            forName: Channel.name, on: .main, options: ObserverOptions(sameThread: policy)
        ) { _ in handled.count += 1 }
        let notification = Notification(name: Channel.name)
        return LaterSubject(
            conditions, handled, enqueue: { _ in center.post(notification) }, end: { token.cancel() })
    }
}

/// Calls something that the main thread's run loop completes.
private final class LaterSubject: BenchmarkSubject {
    private let handled: HandledCount
    private let timeout: Duration
    private let enqueue: (HandledCount) throws -> Void
    private let ending: () -> Void

    init(
        _ conditions: BenchmarkConditions, _ handled: HandledCount = HandledCount(),
        enqueue: @escaping (HandledCount) throws -> Void, end: @escaping () -> Void = {}
    ) {
        self.handled = handled
        self.enqueue = enqueue
        timeout = conditions.timeout
        ending = end
    }

    func measure(_ operations: Int) throws -> Sample {
        handled.count = 0
        return try Enqueuing.measure(
            operations, isCoalescing: false, timeout: timeout, handled: { handled.count },
            enqueue: { try enqueue(handled) })
    }

    func end() {
        ending()
    }
}
