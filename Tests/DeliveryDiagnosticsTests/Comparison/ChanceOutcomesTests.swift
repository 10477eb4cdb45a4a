import DeliveryRecording
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

@Suite("Comparing outcomes that are left to chance")
struct ChanceOutcomesTests {
    private static let worker = RecordedScript.thread(2, "worker")

    /// Main posts six notifications to an observer on another thread. Each handler logs and performs a block on main.
    ///
    /// - Parameters:
    ///   - outcomes: `.coalesce`, `.drop` or `.deliver` for each post; nil for none.
    ///   - last: what main logs at the end.
    private func run(_ outcomes: [DeliveryStage?], last: String = "done", policy: DeliveryRecord.Policy? = nil)
        -> Recording
    {
        var script = RecordedScript()
        script.record(.register, observer: 1, target: Self.worker)
        for (index, outcome) in outcomes.enumerated() {
            let post = index + 1
            script.record(.post, post: post, count: 1)
            script.record(.append, post: post, observer: 1, target: Self.worker)
            if outcome == .coalesce || outcome == .drop, index > 0 || policy != nil {
                script.record(outcome ?? .drop, post: post, observer: 1, policy: policy)
            }
        }
        for (index, outcome) in outcomes.enumerated() where outcome == .deliver {
            let post = index + 1
            script.record(.deliver, on: Self.worker, post: post, observer: 1)
            script.record(.log, on: Self.worker, message: "handles \(post)")
            script.record(.append, on: Self.worker, post: 100 + post, target: RecordedScript.main)
            script.record(.return, on: Self.worker, post: post, observer: 1)
            script.deliver(100 + post, observer: nil, on: RecordedScript.main)
        }
        script.record(
            .count, observer: 1,
            counters: DeliveryCounters(
                delivered: outcomes.count { $0 == .deliver }, coalesced: outcomes.count { $0 == .coalesce }))
        script.record(.log, message: last)
        script.record(.end, reason: .exit)
        return script.recording("run")
    }

    private func compare(_ one: Recording, _ other: Recording) -> RunComparison.Outcome {
        RunComparison(.recording(one), .recording(other)).outcome
    }

    private func isSame(_ one: Recording, _ other: Recording) -> Bool {
        guard case .same(_, _, let byChance) = compare(one, other) else { return false }
        return byChance == ["Name"]
    }

    @Test("another number of coalesced or dropped notifications is no difference")
    func numbers() {
        let all: [DeliveryStage?] = [.deliver, .deliver, .deliver, .deliver, .deliver, .deliver]
        let some: [DeliveryStage?] = [.deliver, .coalesce, .deliver, .coalesce, .coalesce, .deliver]
        let others: [DeliveryStage?] = [.deliver, .deliver, .coalesce, .coalesce, .coalesce, .deliver]
        for (one, other) in [(all, some), (some, all), (some, others)] {
            #expect(isSame(run(one), run(other)))
        }
        let dropped = some.map { $0 == .coalesce ? .drop : $0 }
        #expect(isSame(run(all), run(dropped, policy: .dropOldest)))
        let words = ComparisonReport(compare(run(all), run(some))).description
        #expect(words.contains("which a policy leaves to chance: Name."))
    }

    @Test("a difference elsewhere is found although it comes later")
    func elsewhere() throws {
        let outcome = compare(
            run([.deliver, .coalesce, .deliver]), run([.deliver, .deliver, .deliver], last: "failed"))
        guard case .different(let differences) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(differences.map(\.reason) == [.message])
        #expect(differences.first?.first.text.contains("done") == true)
    }

    @Test("what must hold is compared: the last one is delivered, each has an outcome, deliveries are in order")
    func invariants() {
        typealias Case = (String, [DeliveryStage?], [DeliveryStage?], DeliveryRecord.Policy?)
        for (name, one, other, policy) in [
            ("last", [.deliver, .coalesce, .deliver], [.deliver, .deliver, .coalesce], nil),
            ("last of dropOldest", [.deliver, .drop, .deliver], [.deliver, .deliver, .drop], .dropOldest),
            ("first of dropNewest", [.deliver, .drop, .deliver], [.drop, .deliver, .deliver], .dropNewest),
            ("no outcome", [.deliver, .coalesce, .deliver], [.deliver, nil, .deliver], nil),
        ] as [Case] {
            #expect(!isSame(run(one, policy: policy), run(other, policy: policy)), "\(name)")
        }
        #expect(
            isSame(
                run([.deliver, .drop, .deliver], policy: .dropNewest),
                run([.deliver, .deliver, .drop], policy: .dropNewest)))
    }

    @Test("what one handler does more is a difference, although its observer coalesces")
    func handlers() {
        let one = run([.deliver, .coalesce, .deliver])
        var records = run([.deliver, .deliver, .deliver]).records
        guard let last = records.lastIndex(where: { $0.message == "handles 3" }) else { return }
        records[last].message = "fails"
        guard case .different(let differences) = compare(one, Recording(records)) else {
            Issue.record("not different")
            return
        }
        #expect(differences.map(\.reason) == [.message])
    }

    @Test("another number of notifications that a posting queue coalesced is no difference")
    func queue() {
        func run(_ posted: [Int]) -> Recording {
            var script = RecordedScript()
            script.name = "Draw"
            for post in 1...4 { script.record(.enqueue, post: post, style: .whenIdle) }
            for post in 1...4 where !posted.contains(post) { script.record(.coalesce, post: post) }
            for post in posted {
                script.record(.post, post: post, count: 1)
                script.record(.append, post: post, observer: 1, target: Self.worker)
            }
            for post in posted { script.deliver(post, on: Self.worker) }
            return script.recording("run")
        }
        guard case .same(_, _, ["Draw"]) = compare(run([1]), run([1, 3])) else {
            Issue.record("not the same")
            return
        }
    }
}
