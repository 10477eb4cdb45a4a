import Testing

@testable import notify_demo

@Suite("The plan of an observing command")
struct ObservingPlanTests {
    @Test("without a count and a timeout it waits for events only")
    func forever() {
        var plan = ObservingPlan()
        let first = plan.action(at: .zero)
        plan.countNotification()
        let later = plan.action(at: .seconds(1_000_000))
        #expect([first, later] == [.wait(until: nil), .wait(until: nil)])
    }

    @Test("a timeout is a failure only if a count was given")
    func timeout() {
        var counting = ObservingPlan(count: 2, timeout: .seconds(5))
        counting.countNotification()
        let before = counting.action(at: .seconds(4))
        let failed = counting.action(at: .seconds(5))
        var plain = ObservingPlan(timeout: .seconds(5))
        let ended = plain.action(at: .seconds(6))
        #expect([before, failed, ended] == [.wait(until: .seconds(5)), .end(.failed), .end(.success)])
    }

    @Test("all notifications are a success, even after the timeout")
    func complete() {
        var plan = ObservingPlan(count: 1, timeout: .seconds(5))
        #expect(!plan.isComplete)
        plan.countNotification()
        let action = plan.action(at: .seconds(60))
        #expect(plan.isComplete)
        #expect(action == .end(.success))
    }

    @Test("delivery is suspended once and resumed once")
    func suspension() {
        var plan = ObservingPlan(timeout: .seconds(9), suspendAfter: .seconds(1), resumeAfter: .seconds(2))
        let actions = [0, 1, 1, 3, 3, 9].map { plan.action(at: .seconds($0)) }
        #expect(
            actions == [
                .wait(until: .seconds(1)), .suspend, .wait(until: .seconds(3)), .resume, .wait(until: .seconds(9)),
                .end(.success),
            ])
    }

    @Test("a late call returns the due actions in order, and none that was due after the end")
    func late() {
        var plan = ObservingPlan(timeout: .seconds(9), suspendAfter: .seconds(1), resumeAfter: .seconds(2))
        let all = (0..<3).map { _ in plan.action(at: .seconds(20)) }
        #expect(all == [.suspend, .resume, .end(.success)])
        var short = ObservingPlan(timeout: .seconds(2), suspendAfter: .seconds(1), resumeAfter: .seconds(2))
        let some = (0..<2).map { _ in short.action(at: .seconds(20)) }
        #expect(some == [.suspend, .end(.success)])
    }
}
