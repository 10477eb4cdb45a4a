import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class ChanceOutcomesTests: XCTestCase {
    /// Main posts notifications to an observer on another thread. Each handler logs and performs a block on main.
    ///
    /// - Parameters:
    ///   - outcomes: for each post: delivered, coalesced, dropped, or `-` for none.
    ///   - message: what the last handler logs.
    ///   - last: what main logs at the end.
    private func run(
        _ outcomes: String, policy: Recording.Policy? = nil, message: String = "handles", last: String = "done"
    ) -> Recording {
        RecordedStory.complete { script in
            let worker = RecordedStory.worker
            script.add(.register, observer: 1, target: worker)
            for (post, outcome) in zip(1..., outcomes) {
                script.hand(post, to: [1])
                let stages: [Character: DeliveryStage] = ["c": .coalesce, "x": .drop]
                if let stage = stages[outcome] { script.add(stage, post: post, observer: 1, policy: policy) }
            }
            for (post, outcome) in zip(1..., outcomes) where outcome == "d" {
                script.add(.deliver, on: worker, post: post, observer: 1)
                script.add(.log, on: worker, message: post == outcomes.count ? message : "handles \(post)")
                script.add(.append, on: worker, nil, post: 100 + post, target: RecordedStory.main)
                script.add(.return, on: worker, post: post, observer: 1)
                script.handle(100 + post, by: nil, on: RecordedStory.main)
            }
            script.add(.log, message: last)
        }
    }

    func testOnlyWhatMustHoldIsComparedOfOutcomesThatAPolicyDecides() {
        for (name, one, other, policy, isSame) in [
            ("fewer", "ddd", "dcd", nil, true), ("more", "dcd", "ddd", nil, true),
            ("others", "dcdccd", "ddcccd", nil, true), ("dropped", "ddd", "dxd", .dropOldest, true),
            ("last of dropNewest", "dxd", "ddx", .dropNewest, true), ("last", "dcd", "ddc", nil, false),
            ("last of dropOldest", "dxd", "ddx", .dropOldest, false),
            ("first of dropNewest", "dxd", "xdd", .dropNewest, false), ("no outcome", "dcd", "d-d", nil, false),
        ] as [(String, String, String, Recording.Policy?, isSame: Bool)] {
            let comparison = RunComparison(run(one, policy: policy), run(other, policy: policy))
            XCTAssertEqual(comparison.isSame, isSame, "\(name): \(comparison.text)")
            let words = "which a policy leaves to chance: Done."
            XCTAssertEqual(comparison.text.contains(words), isSame, "\(name): \(comparison.text)")
        }
    }

    func testADifferenceElsewhereIsFoundAndOneInAHandlerThatBothRunsCall() {
        for (other, text) in [(run("ddd", last: "failed"), "failed"), (run("ddd", message: "fails"), "fails")] {
            let differences = RunComparison(run("dcd"), other).differences
            XCTAssertEqual(differences.map(\.reason), [.message])
            XCTAssertEqual(differences.first?.second.text?.contains(text), true)
        }
    }

    func testAnotherNumberOfNotificationsThatAPostingQueueCoalescedIsNoDifference() {
        let start = "1-4: enqueue #* Draw $whenIdle; "
        let (one, other) = (
            RecordedStory(start + "2-4: coalesce #* Draw; give #1 o1 Draw; end - !exit"),
            RecordedStory(start + "coalesce #2 Draw; coalesce #4 Draw; give #1 o1 Draw; give #3 o1 Draw; end - !exit")
        )
        let comparison = RunComparison(one.recording, other.recording)
        XCTAssertTrue(comparison.isSame, comparison.text)
        XCTAssertEqual(comparison.byChance, ["Draw"])
    }
}
