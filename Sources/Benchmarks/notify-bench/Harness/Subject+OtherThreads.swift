internal import CControl
internal import Glibc
internal import ThreadedNotifications

// Measurements of a channel between threads.

extension Subject {
    /// Posts from several threads as fast as possible: the time until each target has handled the last notification.
    static func burst(
        posters: Int = 1, targets: Int = 1, _ conditions: BenchmarkConditions, through open: Channel.Opening
    ) throws -> Subject {
        let (arrivals, timeout) = (Arrivals(targets: targets), conditions.timeout)
        let channel = try open(arrivals.handlers)
        let posters = PosterThreads(posters) { count in
            for _ in 0..<count { channel.post() }
        }
        return Subject {
            try posters.end()
            try channel.end()
        } measure: { operations in
            arrivals.expect(operations)
            let sample = try Sample.timing(operations) {
                posters.post(operations)
                try arrivals.wait(timeout: timeout)
            }
            try posters.wait(timeout: timeout)
            try arrivals.check(operations)
            return sample
        }
    }

    /// The number of allocations of a burst that follows an equally long one as a warm-up.
    static func allocations(_ conditions: BenchmarkConditions, through open: Channel.Opening) throws -> Subject {
        let burst = try burst(conditions, through: open)
        return Subject(end: burst.end) { operations in
            _ = try burst.measure(operations)
            CControlBeginCountingAllocations()
            defer { _ = CControlEndCountingAllocations() }
            _ = try burst.measure(operations)
            return Sample(operations: operations, total: Double(CControlEndCountingAllocations()))
        }
    }

    /// Posts to a thread that is blocked in a handler, then unblocks it.
    static func backlog(_ conditions: BenchmarkConditions, through open: Channel.Opening) throws -> Subject {
        let (arrivals, timeout) = (Arrivals(), conditions.timeout)
        // The first notification is held.
        let (held, mayContinue) = (Arrivals(), MonotonicSemaphore())
        let (first, others) = (held.targets[0], arrivals.targets[0])
        let channel = try open(
            [
                {
                    guard first.missing > 0 else { return others.arrive() }
                    first.arrive()
                    _ = mayContinue.wait(until: .after(timeout))
                }
            ])
        return Subject(end: channel.end) { operations in
            held.expect(1)
            channel.post()
            try held.wait(timeout: timeout)
            arrivals.expect(operations)
            let sample = try Sample.timing(operations) {
                for _ in 0..<operations { channel.post() }
                mayContinue.signal()
                try arrivals.wait(timeout: timeout)
            }
            try arrivals.check(operations)
            return sample
        }
    }

    /// Makes calls that have been handled when they return, one at a time.
    ///
    /// - Parameter call: returns a call that counts one arrival, and what ends its thread.
    static func calls(
        _ call: (Arrivals) throws -> (call: () throws -> Void, end: () throws -> Void)
    ) throws -> Subject {
        let arrivals = Arrivals()
        let (call, end) = try call(arrivals)
        return Subject(end: end) { operations in
            arrivals.expect(operations)
            let sample = try Sample.timingEach(operations, call)
            // The last notification was handled before its call returned, so this does not block.
            try arrivals.wait(timeout: .zero)
            try arrivals.check(operations)
            return sample
        }
    }

    /// Posts once, and waits until that is handled.
    static func waiting(_ conditions: BenchmarkConditions, through open: Channel.Opening) throws -> Subject {
        try calls { arrivals in
            let (isHandled, timeout) = (MonotonicSemaphore(), conditions.timeout)
            let target = arrivals.targets[0]
            let channel = try open(
                [
                    {
                        target.arrive()
                        isHandled.signal()
                    }
                ])
            return (
                {
                    channel.post()
                    guard isHandled.wait(until: .after(timeout)) else {
                        throw BenchmarkError.timedOut(waitingFor: "what was posted to be handled", after: timeout)
                    }
                }, channel.end
            )
        }
    }

    /// Has two threads answer each other: the time from the post of a question until the answer was handled.
    static func roundTrip(_ conditions: BenchmarkConditions, through open: Channel.Opening) throws -> Subject {
        let (arrivals, timeout) = (Arrivals(), conditions.timeout)
        let target = arrivals.targets[0]
        let ask = Locked(Question(post: {}))
        let trips = Locked((asked: Int64(0), latencies: [UInt64]()))
        let answers = try open(
            [
                {
                    let isLast = target.missing == 1
                    trips.withLock { trips in
                        let now = CControlNow()
                        trips.latencies.append(UInt64(now - trips.asked))
                        trips.asked = now
                    }
                    target.arrive()
                    if !isLast { ask.withLock { $0 }.post() }
                }
            ])
        let questions = try open([answers.post])
        ask.withLock { $0 = Question(post: questions.post) }
        return Subject {
            ask.withLock { $0 = Question(post: {}) }
            try questions.end()
            try answers.end()
        } measure: { operations in
            arrivals.expect(operations)
            trips.withLock { $0 = (CControlNow(), []) }
            questions.post()
            try arrivals.wait(timeout: timeout)
            return Sample(operations: operations, latencies: trips.withLock { $0.latencies })
        }
    }

    /// Posts from one thread at times that do not depend on the handlers: the time until the handler begins.
    ///
    /// - Parameter interval: in nanoseconds.
    static func paced(
        every interval: Int64, _ conditions: BenchmarkConditions, through open: Channel.Opening
    ) throws -> Subject {
        let (arrivals, timeout) = (Arrivals(), conditions.timeout)
        let channel = try open(arrivals.handlers)
        let result = Locked<Result<[UInt64], BenchmarkError>>(.success([]))
        let poster = PosterThreads(1) { count in
            let latencies = Result { () throws(BenchmarkError) in
                try pacedLatencies(of: count, every: interval, channel, arrivals, timeout: timeout)
            }
            result.withLock { $0 = latencies }
        }
        return Subject {
            try poster.end()
            try channel.end()
        } measure: { operations in
            let begun = CControlProcessTime()
            poster.post(operations)
            try poster.wait(timeout: timeout)
            let processorTime = CControlProcessTime() - begun
            var sample = Sample(operations: operations, latencies: try result.withLock { $0 }.get())
            sample.processorTime = Double(processorTime)
            return sample
        }
    }

    private static func pacedLatencies(
        of count: Int, every interval: Int64, _ channel: Channel, _ arrivals: Arrivals, timeout: Duration
    ) throws(BenchmarkError) -> [UInt64] {
        var latencies: [UInt64] = []
        latencies.reserveCapacity(count)
        var next = CControlNow()
        for _ in 0..<count {
            arrivals.expect(1)
            let posted = CControlNow()
            channel.post()
            // The handler has usually returned when this thread wakes, so that waiting for it wakes no thread.
            next = max(next + interval, posted)
            var time = timespec(tv_sec: Int(next / 1_000_000_000), tv_nsec: Int(next % 1_000_000_000))
            while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
            try arrivals.wait(timeout: timeout)
            latencies.append(UInt64(arrivals.targets[0].lastArrival - posted))
        }
        return latencies
    }
}

/// A closure without this struct would be wrapped again each time a generic value returns it.
private struct Question {
    let post: Channel.Handler
}

extension Sample {
    /// Measures the duration of `body`.
    static func timing(_ operations: Int, _ body: () throws -> Void) rethrows -> Sample {
        let begun = CControlNow()
        try body()
        return Sample(operations: operations, total: Double(CControlNow() - begun))
    }

    /// Measures the duration of each call.
    static func timingEach(_ operations: Int, _ call: () throws -> Void) rethrows -> Sample {
        var latencies: [UInt64] = []
        latencies.reserveCapacity(operations)
        var last = CControlNow()
        for _ in 0..<operations {
            try call()
            let now = CControlNow()
            latencies.append(UInt64(now - last))
            last = now
        }
        return Sample(operations: operations, latencies: latencies)
    }

    /// An operation's cost is its latency.
    init(operations: Int, latencies: [UInt64]) {
        self.init(operations: operations, total: latencies.reduce(0) { $0 + Double($1) }, latencies: latencies)
    }
}
