internal import CControl
internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// A burst for the main thread beside a timer of 60 Hz: how late each tick of the timer is.
///
/// Handlers take 1 µs, so that the burst lasts for several ticks. Ticks that are due before the timer fires are late
/// until then.
enum MainFlood {
    static let workload = Workload(
        name: "main-flood",
        summary: "how late a 60 Hz timer is on main, which handles 100,000 (--quick: 1000)",
        unit: .nanoseconds(per: "tick"), control: "no burst",
        operations: 8...12, quickOperations: 1...2,
        contenders: [
            Contender("no burst") { try MainFloodSubject($0, Flood(), of: 0, post: { _ in }) },
            Contender("drainBudget: 8 ms") { try ours($0, .time(.milliseconds(8))) },
            Contender("drainBudget: 1 ms") { try ours($0, .time(.milliseconds(1))) },
            Contender("drainBudget: unbounded") { try ours($0, .unbounded) },
            Contender("DispatchQueue.main.async") { conditions in
                let flood = Flood()
                return try MainFloodSubject(
                    conditions, flood, of: burst(conditions),
                    post: { count in for _ in 0..<count { DispatchQueue.main.async { flood.handle() } } })
            },
        ])

    private static func burst(_ conditions: BenchmarkConditions) -> Int { conditions.isQuick ? 1000 : 100_000 }

    private static func ours(_ conditions: BenchmarkConditions, _ budget: DrainBudget) throws -> MainFloodSubject {
        let (center, flood) = (ThreadedNotificationCenter(), Flood())
        let token = center.addObserver(forName: Channel.name, on: .main) { _ in flood.handle() }
        return try MainFloodSubject(
            conditions, flood, of: burst(conditions), budget: budget,
            post: { count in
                let notification = Notification(name: Channel.name)
                for _ in 0..<count { center.post(notification) }
            }, end: { token.cancel() })
    }
}

/// The ticks of a timer, and the handled notifications.
///
/// Safety: the main thread uses it, where handlers and the timer are called. The posting thread only passes it on.
private final class Flood: @unchecked Sendable {
    /// In nanoseconds.
    private static let period: Int64 = 1_000_000_000 / 60
    private static let handlerTime: Int64 = 1_000

    fileprivate var handled = 0
    /// Of each tick, in nanoseconds.
    fileprivate var lateness: [UInt64] = []
    private var due: Int64 = 0

    func handle() {
        let begin = CControlNow()
        while CControlNow() - begin < Self.handlerTime {}
        handled += 1
    }

    /// Starts a timer on the main thread.
    func startTimer() -> Timer {
        let (begin, date) = (CControlNow(), Date())
        due = begin + Self.period
        @Sendable func nextDate() -> Date { date + TimeInterval(due - begin) / 1e9 }
        let timer = Timer(fire: nextDate(), interval: 3600, repeats: true) { timer in
            let now = CControlNow()
            while self.due <= now {
                self.lateness.append(UInt64(max(1, now - self.due)))
                self.due += Self.period
            }
            timer.fireDate = nextDate()
        }
        RunLoop.main.add(timer, forMode: .common)
        return timer
    }

    /// True if a number of notifications was handled, and each tick that was due has been counted.
    func isOver(_ count: Int, since first: Int) -> Bool {
        handled >= count && lateness.count > first && due > CControlNow()
    }
}

private final class MainFloodSubject: BenchmarkSubject {
    private let flood: Flood
    private let poster: BenchmarkThread
    private let burst: Int
    private let budget: DrainBudget
    private let timeout: Duration
    private let post: @Sendable (Int) -> Void
    private let ending: () -> Void

    /// - Parameter post: posts a number of notifications for the main thread. Called on the posting thread, while the
    ///   main thread waits.
    init(
        _ conditions: BenchmarkConditions, _ flood: Flood, of burst: Int, budget: DrainBudget = .unbounded,
        post: @escaping @Sendable (Int) -> Void, end: @escaping () -> Void = {}
    ) throws {
        self.flood = flood
        self.burst = burst
        self.budget = budget
        self.post = post
        timeout = conditions.timeout
        ending = end
        poster = try BenchmarkThread("poster", core: conditions.postingCore)
    }

    func measure(_ operations: Int) throws -> Sample {
        let before = MainThread.main.drainBudget
        MainThread.main.drainBudget = budget
        defer { MainThread.main.drainBudget = before }
        flood.lateness = []
        while flood.lateness.count < operations { try measureBurst() }
        let lateness = Array(flood.lateness.prefix(operations))
        return Sample(operations: operations, total: Double(lateness.reduce(0, +)), latencies: lateness)
    }

    /// Measures the ticks that are due while main handles one burst; at least one.
    private func measureBurst() throws {
        let deadline = SuspendingClock.now + timeout
        let first = flood.lateness.count
        flood.handled = 0
        let (post, burst) = (post, burst)
        try poster.thread.performAndWait(timeout: timeout) { post(burst) }
        let timer = flood.startTimer()
        defer { timer.invalidate() }
        while !flood.isOver(burst, since: first) {
            guard SuspendingClock.now < deadline else {
                throw BenchmarkError.timedOut(waitingFor: "the main thread to handle the burst", after: timeout)
            }
            // A timer does not end a run.
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
        }
        guard flood.handled == burst else {
            throw BenchmarkError.miscounted(handled: flood.handled, posted: burst)
        }
    }

    func end() throws {
        ending()
        try poster.end()
    }
}
