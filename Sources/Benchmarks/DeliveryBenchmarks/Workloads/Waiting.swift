internal import CControl
internal import Dispatch
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// Posts across threads and waits until the notification is handled.
enum Waiting {
    static let workload = Workload(
        name: "wait-until-delivered",
        summary: "post to another thread, and wait until it has handled that",
        unit: .nanoseconds(per: "notification"), control: "C queue and eventfd",
        operations: 100...100_000, quickOperations: 10...1_000,
        contenders: [
            Contender("C queue and eventfd") { try ControlCalls($0) },
            Contender("ThreadedNotificationCenter") { try ours($0) },
            Contender("performAndWait(timeout:)") { try performing($0) },
            // Not `sync`: libdispatch would run the block on the calling thread if the queue is idle.
            Contender("DispatchQueue.async, wait") { asynchronous($0) },
        ])

    private static func ours(_ conditions: BenchmarkConditions) throws -> TimedCalls {
        let (arrivals, center) = (Arrivals(), ThreadedNotificationCenter())
        let thread = try BenchmarkThread(core: conditions.targetCore)
        let target = arrivals.targets[0]
        let token = center.addObserver(forName: Channel.name, on: thread.thread) { _ in target.arrive() }
        let notification = Notification(name: Channel.name)
        return TimedCalls(
            arrivals, perform: { try center.postAndWait(notification, timeout: conditions.timeout) },
            end: {
                token.cancel()
                try thread.end()
            })
    }

    private static func performing(_ conditions: BenchmarkConditions) throws -> TimedCalls {
        let arrivals = Arrivals()
        let thread = try BenchmarkThread(core: conditions.targetCore)
        let target = arrivals.targets[0]
        return TimedCalls(
            arrivals, perform: { try thread.thread.performAndWait(timeout: conditions.timeout) { target.arrive() } },
            end: { try thread.end() })
    }

    private static func asynchronous(_ conditions: BenchmarkConditions) -> TimedCalls {
        let arrivals = Arrivals()
        let (queue, target) = (DispatchQueue(label: "target"), arrivals.targets[0])
        let isHandled = MonotonicSemaphore()
        return TimedCalls(
            arrivals,
            perform: {
                queue.async {
                    target.arrive()
                    isHandled.signal()
                }
                guard isHandled.wait(until: .after(conditions.timeout)) else {
                    throw BenchmarkError.timedOut(waitingFor: "the queue", after: conditions.timeout)
                }
            }, end: {})
    }
}

/// The baseline in C: the handler answers through an eventfd.
private final class ControlCalls: BenchmarkSubject {
    private let calls: OpaquePointer
    private let timeout: Duration

    init(_ conditions: BenchmarkConditions) throws(BenchmarkError) {
        guard let calls = CControlCallsCreate(Int32(conditions.targetCore ?? -1)) else {
            throw .notMade("the control's thread", code: errno)
        }
        self.calls = calls
        timeout = conditions.timeout
    }

    func measure(_ operations: Int) throws -> Sample {
        var latencies = [Int64](repeating: 0, count: operations)
        let elapsed = latencies.withUnsafeMutableBufferPointer {
            CControlCallsMeasure(calls, Int64(operations), $0.baseAddress, Int64(timeout / .nanoseconds(1)))
        }
        let total = try ControlTime.nanoseconds(elapsed, timeout: timeout)
        return Sample(operations: operations, total: total, latencies: latencies.map(UInt64.init))
    }

    func end() {
        CControlCallsDestroy(calls)
    }
}
