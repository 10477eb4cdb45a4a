internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import TerminalText
internal import ThreadedNotifications

/// Guarantee 12: each overflow policy, applied to the same posts while the target thread does not drain.
struct OverflowScenario: Scenario {
    let name = "overflow"
    let summary = "a busy target thread: each overflow policy, and its counts"

    private static let capacity = 3
    private static let posts = 8
    private static let prices = Notification.Name("PriceDidChange")
    /// The objects of the posts, alternating.
    private static let objects = ["apples", "pears"]
    private static let full = "posted \(posts) while the target is busy"

    /// Each policy, the numbers of the posts that are delivered, and the outcome of the others. The observers are added
    /// in this order.
    private static let policies: [(policy: OverflowPolicy, delivered: [Int], otherOutcome: DeliveryOutcome)] = [
        (.unbounded, Array(1...posts), .dropped),
        (.dropOldest(capacity: capacity), [6, 7, 8], .dropped),
        (.dropNewest(capacity: capacity), [1, 2, 3], .dropped),
        (.keepLatest, [7, 8], .coalesced),
        (.refuse(capacity: capacity), [1, 2, 3], .refused),
    ]

    func run(in environment: ScenarioEnvironment) throws {
        let recorder = environment.recorder
        let center = ThreadedNotificationCenter()
        let tokens = try environment.withThread("target") { target in
            let tokens = Self.policies.map { policy in
                center.addObserver(
                    forName: Self.prices, on: target, options: ObserverOptions(overflow: policy.policy),
                    transform: { $0.userInfo?["price"] as? Int }, using: { _ in })
            }
            recorder.logCurrentThread()
            let mayDrain = try environment.keepBusy(target)
            for number in 1...Self.posts {
                let object = Self.objects[(number - 1) % Self.objects.count]
                center.post(name: Self.prices, object: object, userInfo: ["price": number])
            }
            recorder.log(Self.full)
            mayDrain.open()
            return tokens
        }
        recorder.finish(tokens)
        recorder.log("handled \(tokens.reduce(0) { $0 + $1.counters.delivered })")
    }

    /// The numbers of the posts that were delivered to an observer, from 1.
    private static func delivered(to observer: Int?, _ run: RecordedRun) -> [Int] {
        let posts = run.all(.post).map(\.post)
        return run.delivered.filter { $0.delivered.observer == observer }.map { delivery in
            (posts.firstIndex(of: delivery.posted.post) ?? -1) + 1
        }
    }

    func report(on run: RecordedRun) -> String? {
        let rows = zip(Self.policies, run.all(.register)).map { policy, registration in
            let counts = run.counters(of: registration.observer)
            let numbers = [counts.total, counts.delivered, counts.coalesced, counts.dropped + counts.refused]
            let delivered = Self.delivered(to: registration.observer, run)
            return [policy.policy.kind] + numbers.map(String.init) + [delivered.map(String.init).joined(separator: " ")]
        }
        return Table.text([["policy", "posted", "delivered", "coalesced", "dropped", "which"]] + rows)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let observers = run.all(.register).map(\.observer)
        let claims = Self.policies.enumerated().map { index, policy in
            let observer = observers.indices.contains(index) ? observers[index] : nil
            let delivered = Self.delivered(to: observer, run)
            let others = run.counters(of: observer)[policy.otherOutcome]
            let expected = policy.delivered.map(String.init).joined(separator: " ")
            return Expectation(
                "\(policy.policy.kind): delivered \(expected)",
                holds: delivered == policy.delivered && others == Self.posts - policy.delivered.count,
                otherwise: "delivered \(delivered), and \(policy.otherOutcome) \(others)")
        }
        return [
            run.expectOrder(
                "nothing delivered while the target was busy", run.first(Self.full),
                run.delivered.map(\.delivered).earliest)
        ] + claims + run.expectOutcomesAndCounters
    }
}
