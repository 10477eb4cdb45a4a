internal import Foundation
internal import ThreadedNotifications

/// Posts while observers of other names exist.
enum Names {
    static func workload(unrelated: Int) -> Workload {
        Workload(
            name: "names-\(unrelated)",
            summary: "post where \(unrelated) other name\(unrelated == 1 ? " is" : "s are") observed"
                + (unrelated > 1000 ? " (--quick: 1000)" : ""),
            unit: .nanoseconds(per: "notification"),
            contenders: [
                Contender("ThreadedNotificationCenter") { OurNames(unrelated, $0) },
                Contender("NotificationCenter") { FoundationNames(unrelated, $0) },
            ])
    }

    /// The other names. A quick run has fewer, because a million take seconds to create.
    fileprivate static func unrelated(_ count: Int, _ conditions: BenchmarkConditions) -> [Notification.Name] {
        (0..<(conditions.isQuick ? min(count, 1000) : count)).map { Notification.Name("unrelated name \($0)") }
    }
}

private final class OurNames: BenchmarkSubject {
    private let arrivals = Arrivals()
    private let center = ThreadedNotificationCenter()
    private let tokens: [ObserverToken]

    init(_ unrelated: Int, _ conditions: BenchmarkConditions) {
        let target = arrivals.targets[0]
        tokens = (Names.unrelated(unrelated, conditions) + [Channel.name]).map { [center] name in
            center.addObserver(forName: name, on: .postingThread) { _ in target.arrive() }
        }
    }

    func measure(_ operations: Int) throws -> Sample {
        arrivals.expect(operations)
        let notification = Notification(name: Channel.name)
        let sample = Sample.timing(operations) {
            for _ in 0..<operations { center.post(notification) }
        }
        try arrivals.wait(timeout: .zero)
        try arrivals.check(operations)
        return sample
    }

    func end() {
        for token in tokens { token.cancel() }
    }
}

private final class FoundationNames: BenchmarkSubject {
    private let arrivals = Arrivals()
    private let center = FoundationPosting()

    init(_ unrelated: Int, _ conditions: BenchmarkConditions) {
        let target = arrivals.targets[0]
        for name in Names.unrelated(unrelated, conditions) + [Channel.name] {
            center.observe(name) { _ in target.arrive() }
        }
    }

    func measure(_ operations: Int) throws -> Sample {
        arrivals.expect(operations)
        let sample = Sample.timing(operations) { center.post(Channel.name, operations) }
        try arrivals.wait(timeout: .zero)
        try arrivals.check(operations)
        return sample
    }

    func end() {
        center.removeAll()
    }
}
