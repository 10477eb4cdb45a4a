internal import Foundation
internal import ThreadedNotifications

/// Adds an observer and removes it.
enum AddAndRemove {
    static func workload(others: Int) -> Workload {
        Workload(
            name: "add-and-remove-\(others)",
            summary: "add an observer and remove it, beside \(others) others of the same name",
            unit: .nanoseconds(per: "observer"),
            operations: 10...1_000_000, quickOperations: 10...1_000,
            contenders: [
                Contender("ThreadedNotificationCenter") { _ in OurObservers(others: others) },
                Contender("NotificationCenter") { _ in FoundationObservers(others: others) },
            ])
    }
}

private final class OurObservers: BenchmarkSubject {
    private let center = ThreadedNotificationCenter()
    private let others: [ObserverToken]

    init(others: Int) {
        self.others = (0..<others).map { [center] _ in
            center.addObserver(forName: Channel.name, on: .postingThread) { _ in }
        }
    }

    func measure(_ operations: Int) throws -> Sample {
        let sample = Sample.timing(operations) {
            for _ in 0..<operations {
                center.addObserver(forName: Channel.name, on: .postingThread) { _ in }.cancel()
            }
        }
        let left = center.post(Notification(name: Channel.name)).delivered
        guard left == others.count else { throw BenchmarkError.miscounted(handled: left, posted: others.count) }
        return sample
    }

    func end() {
        for token in others { token.cancel() }
    }
}

private final class FoundationObservers: BenchmarkSubject {
    private let center = NotificationCenter()
    private let arrivals = Arrivals()
    private let others: [any NSObjectProtocol]

    init(others: Int) {
        let target = arrivals.targets[0]
        self.others = (0..<others).map { [center] _ in
            center.addObserver(forName: Channel.name, object: nil, queue: nil) { _ in target.arrive() }
        }
    }

    func measure(_ operations: Int) throws -> Sample {
        let target = arrivals.targets[0]
        let sample = Sample.timing(operations) {
            for _ in 0..<operations {
                let token = center.addObserver(forName: Channel.name, object: nil, queue: nil) { _ in target.arrive() }
                center.removeObserver(token)
            }
        }
        arrivals.expect(others.count)
        center.post(Notification(name: Channel.name))
        if !others.isEmpty { try arrivals.wait(timeout: .zero) }
        try arrivals.check(others.count)
        return sample
    }

    func end() {
        for token in others { center.removeObserver(token) }
    }
}
