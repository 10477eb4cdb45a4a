internal import CControl
internal import DeliveryDiagnostics
internal import Glibc
internal import ThreadedNotifications

/// Posts now and then to a thread that sleeps: the time from each post until its handler begins, and the processor time
/// that a post costs.
enum Paced {
    /// The time between two posts.
    enum Interval: Int64, CaseIterable {
        case hundredMicroseconds = 100_000
        case millisecond = 1_000_000
        case tenMilliseconds = 10_000_000

        fileprivate var name: String {
            switch self {
            case .hundredMicroseconds: "100us"
            case .millisecond: "1ms"
            case .tenMilliseconds: "10ms"
            }
        }

        fileprivate var text: String { ElapsedTime.text(UInt64(rawValue)) }

        fileprivate var operations: ClosedRange<Int> {
            switch self {
            case .hundredMicroseconds: 100...10_000
            case .millisecond: 100...1_000
            case .tenMilliseconds: 20...100
            }
        }
    }

    static func workload(every interval: Interval) -> Workload {
        func contender(
            _ name: String, _ channel: @escaping @Sendable (Arrivals, BenchmarkConditions) throws -> Channel
        ) -> Contender {
            Contender(name) { try PacedSubject(every: interval.rawValue, $0, through: channel) }
        }
        return Workload(
            name: "paced-\(interval.name)", summary: "one thread posts every \(interval.text) to another, which sleeps",
            unit: .nanoseconds(per: "notification"), control: "C queue", operations: interval.operations,
            quickOperations: 5...20,
            contenders: [
                contender("C queue", ControlChannel.channel),
                contender("ThreadedNotificationCenter", Channel.ours),
                contender("…, with a transform", Channel.transforming),
                contender("perform", Channel.performing),
                contender("RedirectingObserver", Channel.redirecting),
                contender("addObserver(queue:)", Channel.operationQueues),
                contender("DispatchQueue.async", Channel.dispatchQueues),
                contender("RunLoop.perform", Channel.runLoops),
            ])
    }
}

/// Posts through a channel from one thread, at times that do not depend on the handlers.
private final class PacedSubject: BenchmarkSubject {
    private let arrivals = Arrivals()
    private let channel: Channel
    private let poster: PosterThreads
    private let result = Locked<Result<[UInt64], BenchmarkError>>(.success([]))
    private let timeout: Duration

    /// - Parameter interval: in nanoseconds.
    init(
        every interval: Int64, _ conditions: BenchmarkConditions,
        through channel: (Arrivals, BenchmarkConditions) throws -> Channel
    ) throws {
        self.channel = try channel(arrivals, conditions)
        timeout = conditions.timeout
        do {
            poster = try PosterThreads(1, core: conditions.postingCore) {
                [arrivals, post = self.channel.post, result, timeout] count in
                let outcome = Self.latencies(of: count, every: interval, post, arrivals, timeout: timeout)
                result.withLock { $0 = outcome }
            }
        } catch {
            try self.channel.end()
            throw error
        }
    }

    func measure(_ operations: Int) throws -> Sample {
        let begun = Self.processorTime
        poster.post(operations)
        try poster.wait(timeout: timeout)
        let processorTime = Self.processorTime - begun
        let latencies = try result.withLock { $0 }.get()
        return Sample(
            operations: operations, total: latencies.reduce(0) { $0 + Double($1) }, latencies: latencies,
            processorTime: processorTime)
    }

    func end() throws {
        poster.end()
        try channel.end()
    }

    /// Posts, and waits for each handler before the next post. On the posting thread.
    private static func latencies(
        of count: Int, every interval: Int64, _ post: (Int) -> Void, _ arrivals: Arrivals, timeout: Duration
    ) -> Result<[UInt64], BenchmarkError> {
        Result { () throws(BenchmarkError) in
            var latencies: [UInt64] = []
            latencies.reserveCapacity(count)
            var next = CControlNow()
            for _ in 0..<count {
                arrivals.expect(1)
                let posted = CControlNow()
                post(1)
                // The handler has usually returned when this thread wakes, so that waiting for it wakes no thread.
                next = max(next + interval, posted)
                sleep(until: next)
                try arrivals.wait(timeout: timeout)
                latencies.append(UInt64(arrivals.targets[0].lastArrival - posted))
            }
            return latencies
        }
    }

    private static func sleep(until time: Int64) {
        var time = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    /// The processor time of the process, in nanoseconds.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

/// The baseline in C: a queue with an eventfd.
private enum ControlChannel {
    static func channel(_ arrivals: Arrivals, _ conditions: BenchmarkConditions) throws(BenchmarkError) -> Channel {
        let target = arrivals.targets[0]
        guard
            let queue = CControlQueueCreate(
                { context, _ in
                    if let context { Unmanaged<Arrivals.Target>.fromOpaque(context).takeUnretainedValue().arrive() }
                }, Unmanaged.passUnretained(target).toOpaque())
        else { throw .notMade("the control's queue", code: errno) }
        let error = CControlQueueStart(queue, Int32(conditions.targetCore ?? -1))
        guard error == 0 else {
            CControlQueueDestroy(queue)
            throw .notMade("the control's thread", code: error)
        }
        let reference = Queue(pointer: queue, target: target)
        return Channel(
            post: { count in for _ in 0..<count { CControlQueueAppend(reference.pointer, 1) } },
            end: { CControlQueueDestroy(reference.pointer) })
    }

    // Safety: the queue has a lock, and is destroyed once, after the last post.
    private struct Queue: @unchecked Sendable {
        let pointer: OpaquePointer
        let target: Arrivals.Target
    }
}
