internal import Foundation
internal import ThreadedNotifications

/// Guarantee 12: what becomes of the same posts under each overflow policy, while the target thread does not drain.
struct OverflowScenario: Scenario {
    let name = "overflow"
    let summary = "a busy target thread: each overflow policy, and its counts"

    private static let capacity = 3
    private static let posts = 8
    private static let limit = Duration.milliseconds(10)
    private static let prices = Notification.Name("PriceDidChange")
    /// The posts are about these in turn.
    private static let objects = ["apples", "pears"]
    private static let full = "posted \(posts) while the target is busy"

    private struct Policy {
        var name: String
        var policy: OverflowPolicy
        /// Which posts are delivered, from 1.
        var delivered: [Int]
        /// What the others meet with.
        var fate: DeliveryStage
    }

    /// In the order in which the observers are added. The one that blocks is the last, so that the others wait for nobody.
    private static let policies = [
        Policy(name: "unbounded", policy: .unbounded, delivered: Array(1...posts), fate: .drop),
        Policy(name: "dropOldest", policy: .dropOldest(capacity: capacity), delivered: [6, 7, 8], fate: .drop),
        Policy(name: "dropNewest", policy: .dropNewest(capacity: capacity), delivered: [1, 2, 3], fate: .drop),
        Policy(name: "keepLatest", policy: .keepLatest, delivered: [7, 8], fate: .coalesce),
        Policy(name: "refuse", policy: .refuse(capacity: capacity), delivered: [1, 2, 3], fate: .drop),
        Policy(
            name: "block", policy: .block(capacity: capacity, timeout: limit), delivered: [1, 2, 3], fate: .drop),
    ]

    func perform(in environment: ScenarioEnvironment) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        try DeliveryTracer.record(into: environment.recorder) { try post(in: environment) }
    }

    private func post(in environment: ScenarioEnvironment) throws {
        let (recorder, limit) = (environment.recorder, environment.limit)
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
            // If it does not open in time, main's own wait says so.
            try? mayDrain.wait(limit: limit)
        }
        try isBusy.wait(limit: limit)
        for number in 1...Self.posts {
            let object = Self.objects[(number - 1) % Self.objects.count]
            center.post(name: Self.prices, object: object, userInfo: ["price": number])
        }
        recorder.log(Self.full)
        mayDrain.open()
        target.stop()
        try target.waitUntilFinished(timeout: limit)
        for token in tokens {
            recorder.recordCounts(of: token)
            token.cancel()
        }
        recorder.log("handled \(tokens.reduce(0) { $0 + $1.counters.delivered })")
    }

    /// Which posts were delivered to an observer, from 1.
    private static func delivered(to observer: Int?, _ deliveries: Deliveries) -> [Int] {
        let places = Dictionary(
            deliveries.posted.enumerated().map { ($0.element.post, $0.offset + 1) },
            uniquingKeysWith: { first, _ in first })
        return deliveries.delivered.filter { $0.delivered.observer == observer }.map { places[$0.posted.post] ?? 0 }
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
        let claims = Self.policies.enumerated().map { place, policy in
            let observer = observers.indices.contains(place) ? observers[place] : nil
            let delivered = Self.delivered(to: observer, deliveries)
            let others = deliveries.counts(of: observer)[policy.fate]
            let words = policy.delivered.map(String.init).joined(separator: " ")
            return Expectation(
                "\(policy.name): delivered \(words)",
                holds: delivered == policy.delivered && others == Self.posts - policy.delivered.count,
                otherwise: "delivered \(delivered), met with \(policy.fate.rawValue) \(others)")
        }
        return [
            Expectation(
                "nothing delivered while the target was busy", holds: full > 0 && early == nil,
                otherwise: "something was, or the target was not busy")
        ] + claims + [
            deliveries.expectOneFateEach("each has one fate"),
            deliveries.expectCountsAgree("counted by the library as recorded"),
        ]
    }
}
