internal import CControl
internal import Dispatch
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// Two threads that answer each other: the time from the post of a question until the answer was handled.
enum RoundTrip {
    static let workload = Workload(
        name: "round-trip",
        summary: "two threads post to each other in turn",
        unit: .nanoseconds(per: "round trip"), control: "C eventfd ping-pong",
        operations: 100...100_000, quickOperations: 10...1_000,
        contenders: [
            Contender("C eventfd ping-pong") { try ControlPingPong($0) },
            Contender("ThreadedNotificationCenter") { try RoundTripSubject($0, through: RoundTripSubject.ours) },
            Contender("RedirectingObserver") { try RoundTripSubject($0, through: RoundTripSubject.redirecting) },
            Contender("DispatchQueue.async") { try RoundTripSubject($0, through: RoundTripSubject.dispatchQueues) },
            Contender("RunLoop.perform") { try RoundTripSubject($0, through: RoundTripSubject.runLoops) },
        ])
}

/// The round trips of one round.
///
/// Safety: the measuring thread uses it before the first question and after the last answer; in between only the asking
/// thread does. The delivery of questions and answers orders the two.
private final class RoundTrips: @unchecked Sendable {
    private var latencies: [UInt64] = []
    private var count = 0
    private var asked: Int64 = 0
    private let areMade = MonotonicSemaphore()

    func expect(_ count: Int) {
        self.count = count
        latencies.removeAll(keepingCapacity: true)
        latencies.reserveCapacity(count)
        asked = CControlNow()
    }

    /// Records an answer. Called on the asking thread.
    /// - Returns: true if another question follows.
    func areToGoOn() -> Bool {
        let now = CControlNow()
        latencies.append(UInt64(now - asked))
        asked = now
        if latencies.count < count { return true }
        areMade.signal()
        return false
    }

    func wait(timeout: Duration) throws(BenchmarkError) -> [UInt64] {
        guard areMade.wait(until: .after(timeout)) else {
            throw .timedOut(waitingFor: "the last answer", after: timeout)
        }
        guard latencies.count == count else { throw .miscounted(handled: latencies.count, posted: count) }
        return latencies
    }
}

private final class RoundTripSubject: BenchmarkSubject {
    /// Two functions: one asks the first question, the other ends the two threads.
    struct Parties {
        var ask: @Sendable () -> Void
        var end: () throws -> Void
    }

    private let trips = RoundTrips()
    private let parties: Parties
    private let timeout: Duration

    init(_ conditions: BenchmarkConditions, through parties: (RoundTrips, BenchmarkConditions) throws -> Parties) throws
    {
        self.parties = try parties(trips, conditions)
        timeout = conditions.timeout
    }

    func measure(_ operations: Int) throws -> Sample {
        let begun = CControlNow()
        // The first question counts from here.
        trips.expect(operations)
        parties.ask()
        let latencies = try trips.wait(timeout: timeout)
        return Sample(operations: operations, total: Double(CControlNow() - begun), latencies: latencies)
    }

    func end() throws {
        try parties.end()
    }

    static func ours(_ trips: RoundTrips, _ conditions: BenchmarkConditions) throws -> Parties {
        let center = ThreadedNotificationCenter()
        let (question, answer) = (Notification.Name("question"), Notification.Name("answer"))
        let asker = try BenchmarkThread("asker", core: conditions.postingCore)
        let answerer = try BenchmarkThread("answerer", core: conditions.targetCore)
        // Weak, because the center retains the handlers.
        let tokens = [
            center.addObserver(forName: question, on: answerer.thread) { [weak center] _ in
                center?.post(Notification(name: answer))
            },
            center.addObserver(forName: answer, on: asker.thread) { [weak center] _ in
                if trips.areToGoOn() { center?.post(Notification(name: question)) }
            },
        ]
        return Parties(
            ask: { center.post(Notification(name: question)) },
            end: {
                for token in tokens { token.cancel() }
                try asker.end()
                try answerer.end()
            })
    }

    static func redirecting(_ trips: RoundTrips, _ conditions: BenchmarkConditions) throws -> Parties {
        let center = FoundationPosting()
        let (question, answer) = (Notification.Name("question"), Notification.Name("answer"))
        let asker = try BenchmarkThread("asker", core: conditions.postingCore)
        let answerer = try BenchmarkThread("answerer", core: conditions.targetCore)
        let answers = RedirectingObserver { _ in if trips.areToGoOn() { center.post(question) } }
        let questions = RedirectingObserver { _ in center.post(answer) }
        try asker.thread.performAndWait(timeout: conditions.timeout) { answers.setUpThreadingSupport() }
        try answerer.thread.performAndWait(timeout: conditions.timeout) { questions.setUpThreadingSupport() }
        center.observe(question) { questions.processNotification($0) }
        center.observe(answer) { answers.processNotification($0) }
        return Parties(
            ask: { center.post(question) },
            end: {
                center.removeAll()
                try asker.end()
                try answerer.end()
            })
    }

    static func dispatchQueues(_ trips: RoundTrips, _ conditions: BenchmarkConditions) -> Parties {
        let asker = Questioner(trips)
        return Parties(ask: { asker.ask() }, end: {})
    }

    static func runLoops(_ trips: RoundTrips, _ conditions: BenchmarkConditions) throws -> Parties {
        let asker = try WokenRunLoop(core: conditions.postingCore)
        let answerer = try WokenRunLoop(core: conditions.targetCore)
        @Sendable func ask() {
            answerer.perform { asker.perform { if trips.areToGoOn() { ask() } } }
        }
        return Parties(
            ask: { ask() },
            end: {
                try asker.end()
                try answerer.end()
            })
    }
}

/// Two serial queues that answer each other.
private final class Questioner: Sendable {
    private let asker = DispatchQueue(label: "asker")
    private let answerer = DispatchQueue(label: "answerer")
    private let trips: RoundTrips

    init(_ trips: RoundTrips) {
        self.trips = trips
    }

    func ask() {
        answerer.async { self.asker.async { if self.trips.areToGoOn() { self.ask() } } }
    }
}

/// The baseline in C, with one eventfd for each thread.
private final class ControlPingPong: BenchmarkSubject {
    private let pingPong: OpaquePointer
    private let timeout: Duration

    init(_ conditions: BenchmarkConditions) throws(BenchmarkError) {
        guard
            let pingPong = CControlPingPongCreate(
                Int32(conditions.postingCore ?? -1), Int32(conditions.targetCore ?? -1))
        else { throw .notMade("the control's threads", code: errno) }
        self.pingPong = pingPong
        timeout = conditions.timeout
    }

    func measure(_ operations: Int) throws -> Sample {
        var latencies = [Int64](repeating: 0, count: operations)
        let elapsed = latencies.withUnsafeMutableBufferPointer {
            CControlPingPongMeasure(
                pingPong, Int64(operations), $0.baseAddress, Int64(timeout / .nanoseconds(1)))
        }
        let total = try ControlTime.nanoseconds(elapsed, timeout: timeout)
        return Sample(operations: operations, total: total, latencies: latencies.map(UInt64.init))
    }

    func end() {
        CControlPingPongDestroy(pingPong)
    }
}
