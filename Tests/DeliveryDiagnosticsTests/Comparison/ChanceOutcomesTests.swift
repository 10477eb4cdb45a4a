import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class ChanceOutcomesTests: XCTestCase {
    private static let worker = RecordedStory.thread(2, "worker")

    /// Main posts six notifications to an observer on another thread. Each handler logs and performs a block on main.
    ///
    /// - Parameters:
    ///   - outcomes: `.coalesce`, `.drop` or `.deliver` for each post; nil for none.
    ///   - last: what main logs at the end.
    private func run(_ outcomes: [DeliveryStage?], last: String = "done", policy: DeliveryRecord.Policy? = nil)
        -> Recording
    {
        var script = RecordedStory()
        script.add(.register, observer: 1, target: Self.worker)
        for (index, outcome) in outcomes.enumerated() {
            let post = index + 1
            script.add(.post, post: post, count: 1)
            script.add(.append, post: post, observer: 1, target: Self.worker)
            if outcome == .coalesce || outcome == .drop, index > 0 || policy != nil {
                script.add(outcome ?? .drop, post: post, observer: 1, policy: policy)
            }
        }
        for (index, outcome) in outcomes.enumerated() where outcome == .deliver {
            let post = index + 1
            script.add(.deliver, on: Self.worker, post: post, observer: 1)
            script.add(.log, on: Self.worker, message: "handles \(post)")
            script.add(.append, on: Self.worker, nil, post: 100 + post, target: RecordedStory.main)
            script.add(.return, on: Self.worker, post: post, observer: 1)
            script.handle(100 + post, by: nil, on: RecordedStory.main)
        }
        script.add(
            .count, observer: 1,
            counters: DeliveryCounters(
                delivered: outcomes.count { $0 == .deliver }, coalesced: outcomes.count { $0 == .coalesce }))
        script.add(.log, message: last)
        script.add(.end, reason: .exit)
        script.end()
        return script.recording("run")
    }

    private func compare(_ one: Recording, _ other: Recording) -> RunComparison {
        RunComparison(one, other)
    }

    private func isSame(_ one: Recording, _ other: Recording) -> Bool {
        let comparison = compare(one, other)
        guard case .same = comparison.outcome else { return false }
        return comparison.byChance == ["Done"]
    }

    func testAnotherNumberOfCoalescedOrDroppedNotificationsIsNoDifference() {
        let all: [DeliveryStage?] = [.deliver, .deliver, .deliver, .deliver, .deliver, .deliver]
        let some: [DeliveryStage?] = [.deliver, .coalesce, .deliver, .coalesce, .coalesce, .deliver]
        let others: [DeliveryStage?] = [.deliver, .deliver, .coalesce, .coalesce, .coalesce, .deliver]
        for (one, other) in [(all, some), (some, all), (some, others)] {
            XCTAssertTrue(isSame(run(one), run(other)))
        }
        let dropped = some.map { $0 == .coalesce ? .drop : $0 }
        XCTAssertTrue(isSame(run(all), run(dropped, policy: .dropOldest)))
        let words = ComparisonReport(compare(run(all), run(some))).description
        XCTAssertTrue(words.contains("which a policy leaves to chance: Done."))
    }

    func testADifferenceElsewhereIsFoundAlthoughItComesLater() throws {
        let outcome = compare(
            run([.deliver, .coalesce, .deliver]), run([.deliver, .deliver, .deliver], last: "failed")).outcome
        guard case .different(let differences) = outcome else {
            XCTFail("\(outcome)")
            return
        }
        XCTAssertEqual(differences.map(\.reason), [.message])
        XCTAssertEqual(differences.first?.first.text?.contains("done"), true)
    }

    func testWhatMustHoldIsComparedTheLastOneIsDeliveredEachHasAnOutcomeDeliveriesAreInOrder() {
        typealias Case = (String, [DeliveryStage?], [DeliveryStage?], DeliveryRecord.Policy?)
        for (name, one, other, policy) in [
            ("last", [.deliver, .coalesce, .deliver], [.deliver, .deliver, .coalesce], nil),
            ("last of dropOldest", [.deliver, .drop, .deliver], [.deliver, .deliver, .drop], .dropOldest),
            ("first of dropNewest", [.deliver, .drop, .deliver], [.drop, .deliver, .deliver], .dropNewest),
            ("no outcome", [.deliver, .coalesce, .deliver], [.deliver, nil, .deliver], nil),
        ] as [Case] {
            XCTAssertFalse(isSame(run(one, policy: policy), run(other, policy: policy)), "\(name)")
        }
        XCTAssertTrue(
            isSame(
                run([.deliver, .drop, .deliver], policy: .dropNewest),
                run([.deliver, .deliver, .drop], policy: .dropNewest)))
    }

    func testWhatOneHandlerDoesMoreIsADifferenceAlthoughItsObserverCoalesces() {
        let one = run([.deliver, .coalesce, .deliver])
        var records = run([.deliver, .deliver, .deliver]).records
        guard let last = records.lastIndex(where: { $0.message == "handles 3" }) else { return }
        records[last].message = "fails"
        guard case .different(let differences) = compare(one, Recording(records)).outcome else {
            XCTFail("not different")
            return
        }
        XCTAssertEqual(differences.map(\.reason), [.message])
    }

    func testAnotherNumberOfNotificationsThatAPostingQueueCoalescedIsNoDifference() {
        func run(_ posted: [Int]) -> Recording {
            var script = RecordedStory()
            for post in 1...4 { script.add(.enqueue, "Draw", post: post, style: .whenIdle) }
            for post in 1...4 where !posted.contains(post) { script.add(.coalesce, "Draw", post: post) }
            for post in posted {
                script.add(.post, "Draw", post: post, count: 1)
                script.add(.append, "Draw", post: post, observer: 1, target: Self.worker)
            }
            for post in posted { script.handle(post, by: 1, on: Self.worker, "Draw") }
            script.end()
            return script.recording("run")
        }
        let comparison = compare(run([1]), run([1, 3]))
        guard case .same = comparison.outcome else {
            XCTFail("not the same: \(comparison.outcome)")
            return
        }
        XCTAssertEqual(comparison.byChance, ["Draw"])
    }
}
