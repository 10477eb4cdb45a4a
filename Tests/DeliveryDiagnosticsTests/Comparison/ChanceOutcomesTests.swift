import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class ChanceOutcomesTests: XCTestCase {
    private static let worker = RecordedStory.thread(2, "worker")
    private static let some: [DeliveryStage?] = [.deliver, .coalesce, .deliver]
    private static let all: [DeliveryStage?] = [.deliver, .deliver, .deliver]

    /// Main posts notifications to an observer on another thread. Each handler logs and performs a block on main.
    ///
    /// - Parameters:
    ///   - outcomes: `.coalesce`, `.drop` or `.deliver` for each post; nil for none.
    ///   - message: what the last handler logs.
    ///   - last: what main logs at the end.
    private func run(
        _ outcomes: [DeliveryStage?], policy: Recording.Policy? = nil, message: String = "handles",
        last: String = "done"
    ) -> Recording {
        RecordedStory.complete { script in
            script.add(.register, observer: 1, target: Self.worker)
            for (post, outcome) in zip(1..., outcomes) {
                script.hand(post, to: [1], on: Self.worker)
                if let outcome, outcome != .deliver { script.add(outcome, post: post, observer: 1, policy: policy) }
            }
            for (post, outcome) in zip(1..., outcomes) where outcome == .deliver {
                script.add(.deliver, on: Self.worker, post: post, observer: 1)
                script.add(.log, on: Self.worker, message: post == outcomes.count ? message : "handles \(post)")
                script.add(.append, on: Self.worker, nil, post: 100 + post, target: RecordedStory.main)
                script.add(.return, on: Self.worker, post: post, observer: 1)
                script.handle(100 + post, by: nil, on: RecordedStory.main)
            }
            script.add(.log, message: last)
        }
    }

    func testOnlyWhatMustHoldIsComparedOfOutcomesThatAPolicyDecides() {
        let long: [DeliveryStage?] = [.deliver, .coalesce, .deliver, .coalesce, .coalesce, .deliver]
        typealias Case = (String, [DeliveryStage?], [DeliveryStage?], Recording.Policy?, isSame: Bool)
        for (name, one, other, policy, isSame) in [
            ("fewer", Self.all, Self.some, nil, true), ("more", Self.some, Self.all, nil, true),
            ("others", long, [.deliver, .deliver, .coalesce, .coalesce, .coalesce, .deliver], nil, true),
            ("dropped", Self.all, [.deliver, .drop, .deliver], .dropOldest, true),
            ("last of dropNewest", [.deliver, .drop, .deliver], [.deliver, .deliver, .drop], .dropNewest, true),
            ("last", Self.some, [.deliver, .deliver, .coalesce], nil, false),
            ("last of dropOldest", [.deliver, .drop, .deliver], [.deliver, .deliver, .drop], .dropOldest, false),
            ("first of dropNewest", [.deliver, .drop, .deliver], [.drop, .deliver, .deliver], .dropNewest, false),
            ("no outcome", Self.some, [.deliver, nil, .deliver], nil, false),
        ] as [Case] {
            let comparison = RunComparison(run(one, policy: policy), run(other, policy: policy))
            XCTAssertEqual(comparison.isSame, isSame, "\(name): \(comparison.text)")
            let words = "which a policy leaves to chance: Done."
            XCTAssertEqual(comparison.text.contains(words), isSame, "\(name): \(comparison.text)")
        }
    }

    func testADifferenceElsewhereIsFoundAndOneInAHandlerThatBothRunsCall() {
        for (other, text) in [
            (run(Self.all, last: "failed"), "failed"), (run(Self.all, message: "fails"), "fails"),
        ] {
            let differences = RunComparison(run(Self.some), other).differences
            XCTAssertEqual(differences.map(\.reason), [.message])
            XCTAssertEqual(differences.first?.second.text?.contains(text), true)
        }
    }

    func testAnotherNumberOfNotificationsThatAPostingQueueCoalescedIsNoDifference() {
        func run(_ posted: [Int]) -> Recording {
            RecordedStory.complete { script in
                for post in 1...4 { script.add(.enqueue, "Draw", post: post, style: .whenIdle) }
                for post in 1...4 where !posted.contains(post) { script.add(.coalesce, "Draw", post: post) }
                for post in posted { script.hand(post, to: [1], on: Self.worker, "Draw") }
                for post in posted { script.handle(post, by: 1, on: Self.worker, "Draw") }
            }
        }
        let comparison = RunComparison(run([1]), run([1, 3]))
        XCTAssertTrue(comparison.isSame, comparison.text)
        XCTAssertEqual(comparison.byChance, ["Draw"])
    }
}
