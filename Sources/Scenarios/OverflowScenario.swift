internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Guarantee 12: each overflow policy, applied to the same posts while the target thread does not drain.
struct OverflowScenario: Scenario {
    let name = "overflow"
    let summary = "a busy target thread: each overflow policy, and its counts"

    private static let capacity = 3
    private static let posts = 8
    private static let timeout = Duration.milliseconds(10)
    private static let prices = Notification.Name("PriceDidChange")
    /// The objects of the posts, alternating.
    private static let objects = ["apples", "pears"]
    private static let full = "posted \(posts) while the target is busy"

    private struct Policy {
        var name: String
        var policy: OverflowPolicy
        /// The numbers of the posts that are delivered, from 1.
        var delivered: [Int]
        /// The outcome of the other posts.
        var otherOutcome: DeliveryStage
    }

    /// In the order in which the observers are added. The blocking one is last, so that no other observer waits for it.
    private static let policies = [
        Policy(name: "unbounded", policy: .unbounded, delivered: Array(1...posts), otherOutcome: .drop),
        Policy(name: "dropOldest", policy: .dropOldest(capacity: capacity), delivered: [6, 7, 8], otherOutcome: .drop),
        Policy(name: "dropNewest", policy: .dropNewest(capacity: capacity), delivered: [1, 2, 3], otherOutcome: .drop),
        Policy(name: "keepLatest", policy: .keepLatest, delivered: [7, 8], otherOutcome: .coalesce),
        Policy(name: "refuse", policy: .refuse(capacity: capacity), delivered: [1, 2, 3], otherOutcome: .drop),
        Policy(
            name: "block", policy: .block(capacity: capacity, timeout: timeout), delivered: [1, 2, 3],
            otherOutcome: .drop
        ),
    ]

    func perform(in environment: ScenarioEnvironment) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        try DeliveryTracer.record(into: environment.recorder) { try post(in: environment) }
    }

    private func post(in environment: ScenarioEnvironment) throws {
        let (recorder, timeout) = (environment.recorder, environment.timeout)
        let center = ThreadedNotificationCenter()
        let target = RunLoopThread(name: "target")
        try target.start()
        defer { target.stop() }
        let tokens = Self.policies.map { policy in
            center.addObserver(
                forName: Self.prices, on: target, options: ObserverOptions(overflow: policy.policy),
                transform: { $0.userInfo?["price"] as? Int }, using: { _ in })
        }

        recorder.logCurrentThread()
        let (isBusy, mayDrain) = (Gate("the target"), Gate("the posts"))
        try target.perform {
            recorder.logCurrentThread()
            isBusy.open()
            // If the gate does not open in time, the main thread's own wait reports it.
            try? mayDrain.wait(timeout: timeout)
        }
        try isBusy.wait(timeout: timeout)
        for number in 1...Self.posts {
            let object = Self.objects[(number - 1) % Self.objects.count]
            center.post(name: Self.prices, object: object, userInfo: ["price": number])
        }
        recorder.log(Self.full)
        mayDrain.open()
        target.stop()
        try target.waitUntilFinished(timeout: timeout)
        for token in tokens {
            recorder.recordCounts(of: token)
            token.cancel()
        }
        recorder.log("handled \(tokens.reduce(0) { $0 + $1.counters.delivered })")
    }

    /// The numbers of the posts that were delivered to an observer, from 1.
    private static func delivered(to observer: Int?, _ deliveries: Deliveries) -> [Int] {
        let numbers = Dictionary(
            deliveries.posted.enumerated().map { ($0.element.post, $0.offset + 1) },
            uniquingKeysWith: { first, _ in first })
        return deliveries.delivered.filter { $0.delivered.observer == observer }.map { numbers[$0.posted.post] ?? 0 }
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let deliveries = Deliveries(records)
        let rows = zip(Self.policies, deliveries.registered).map { policy, registration in
            let counts = deliveries.counts(of: registration.observer)
            let numbers = [counts.posted, counts[.deliver], counts[.coalesce], counts[.drop]]
            let delivered = Self.delivered(to: registration.observer, deliveries)
            return [policy.name] + numbers.map(String.init) + [delivered.map(String.init).joined(separator: " ")]
        }
        return Table.text([["policy", "posted", "delivered", "coalesced", "dropped", "which"]] + rows)
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        let observers = deliveries.registered.map(\.observer)
        let full = records.first { $0.message == Self.full }?.sequence ?? 0
        let early = deliveries.delivered.first { $0.delivered.sequence < full }
        let claims = Self.policies.enumerated().map { index, policy in
            let observer = observers.indices.contains(index) ? observers[index] : nil
            let delivered = Self.delivered(to: observer, deliveries)
            let others = deliveries.counts(of: observer)[policy.otherOutcome]
            let expected = policy.delivered.map(String.init).joined(separator: " ")
            return Expectation(
                "\(policy.name): delivered \(expected)",
                holds: delivered == policy.delivered && others == Self.posts - policy.delivered.count,
                otherwise: "delivered \(delivered), and \(policy.otherOutcome.rawValue) \(others)")
        }
        return [
            Expectation(
                "nothing delivered while the target was busy", holds: full > 0 && early == nil,
                otherwise: "something was delivered, or the target was not busy")
        ] + claims + [
            deliveries.expectOneOutcomeEach("each post has one outcome"),
            deliveries.expectCountsAgree("the library's counters agree with the records"),
        ]
    }
}
