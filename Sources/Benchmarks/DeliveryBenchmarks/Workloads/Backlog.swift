internal import CControl
internal import Foundation
internal import ThreadedNotifications

/// Posts to a thread that is blocked in a handler, then unblocks it. Shows if the cost of a notification grows with the
/// number that wait.
enum Backlog {
    static func workload(millions: Int) -> Workload {
        let count = millions * 1_000_000
        return Workload(
            name: "backlog-\(millions)",
            summary: "\(millions) million wait for a held thread (--quick: a thousandth)",
            unit: .nanoseconds(per: "notification"), control: "C queue",
            operations: count...count, quickOperations: count / 1000...count / 1000,
            contenders: [
                Contender("C queue") { ControlBacklog($0) },
                Contender("ThreadedNotificationCenter") { try OurBacklog($0) },
            ])
    }
}

private final class OurBacklog: BenchmarkSubject {
    private let arrivals = Arrivals()
    private let channel: Channel
    private let thread: RunLoopThread
    private let timeout: Duration

    init(_ conditions: BenchmarkConditions) throws {
        let center = ThreadedNotificationCenter()
        let (thread, target) = (
            try BenchmarkThread(core: conditions.targetCore), arrivals.targets[0]
        )
        let token = center.addObserver(forName: Channel.name, on: thread.thread) { _ in target.arrive() }
        channel = Channel(
            post: { count in
                let notification = Notification(name: Channel.name)
                for _ in 0..<count { center.post(notification) }
            },
            end: {
                token.cancel()
                try thread.end()
            })
        self.thread = thread.thread
        timeout = conditions.timeout
    }

    func measure(_ operations: Int) throws -> Sample {
        let (isBlocked, mayContinue) = (MonotonicSemaphore(), MonotonicSemaphore())
        try thread.perform { [timeout] in
            isBlocked.signal()
            _ = mayContinue.wait(until: .after(timeout))
        }
        guard isBlocked.wait(until: .after(timeout)) else {
            throw BenchmarkError.timedOut(waitingFor: "the target thread to block", after: timeout)
        }
        arrivals.expect(operations)
        let sample = try Sample.timing(operations) {
            channel.post(operations)
            mayContinue.signal()
            try arrivals.wait(timeout: timeout)
        }
        try arrivals.check(operations)
        return sample
    }

    func end() throws {
        try channel.end()
    }
}

private final class ControlBacklog: BenchmarkSubject {
    private let core: Int32
    private let timeout: Duration

    init(_ conditions: BenchmarkConditions) {
        core = Int32(conditions.targetCore ?? -1)
        timeout = conditions.timeout
    }

    func measure(_ operations: Int) throws -> Sample {
        let elapsed = CControlBacklogMeasure(Int64(operations), core, Int64(timeout / .nanoseconds(1)))
        return Sample(operations: operations, total: try ControlTime.nanoseconds(elapsed, timeout: timeout))
    }

    func end() {}
}
