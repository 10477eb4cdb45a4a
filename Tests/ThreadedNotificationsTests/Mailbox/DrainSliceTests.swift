import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class DrainSliceTests: XCTestCase {
    /// The clock of a drain, in nanoseconds.
    private struct Clock {
        var now: UInt64 = 1
        var looks = 0

        mutating func look() -> UInt64 {
            looks += 1
            return now
        }
    }

    /// Deliveries until the budget is spent.
    /// - Parameter cost: the time that a delivery takes, in nanoseconds, by its number from 0.
    /// - Returns: the number of deliveries, and the clock after them.
    private func deliver(
        _ budget: DrainBudget, atMost: Int = 1_000_000, cost: (Int) -> UInt64
    ) -> (count: Int, clock: Clock) {
        var (slice, clock, count) = (DrainSlice(budget), Clock(), 0)
        while count < atMost, slice.allowsAnother(at: clock.look()) {
            clock.now += cost(count)
            count += 1
        }
        return (count, clock)
    }

    func testABudgetAllowsItsDeliveriesOrThoseThatBeginWithinItsTimeAndAlwaysOne() {
        let cases: [(budget: DrainBudget, cost: UInt64, count: Int)] = [
            (.unbounded, 1_000_000, 10_000), (.deliveries(1), 1_000_000, 1), (.deliveries(16), 1_000_000, 16),
            (.time(.zero), 5, 1), (.time(.seconds(-1)), 5, 1), (.time(.nanoseconds(1)), 5, 1),
            // The eighth begins within 8 ms, and the ninth does not.
            (.time(.milliseconds(8)), 1_000_000, 8),
            (DrainBudget(deliveries: 100, time: .milliseconds(8)), 100, 100),
            (DrainBudget(deliveries: 100, time: .milliseconds(8)), 1_000_000, 8),
        ]
        for (budget, cost, count) in cases {
            let (delivered, clock) = deliver(budget, atMost: 10_000) { _ in cost }
            XCTAssertEqual(delivered, count, "\(budget)")
            // Without a time, the clock is never read.
            if budget.time == nil { XCTAssertEqual(clock.looks, 0, "\(budget)") }
        }
    }

    func testASpentTimeIsNotExceededByMoreThanOneDelivery() {
        for seed in 0..<TestRounds.rounds(20, stress: 200) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let slowest = UInt64.random(in: 1...2_000_000, using: &random)
            let budget = Duration.microseconds(Int.random(in: 1...10_000, using: &random))
            let (count, clock) = deliver(.time(budget)) { _ in UInt64.random(in: 1...slowest, using: &random) }
            let spent = Duration.nanoseconds(Int64(clock.now - 1))
            XCTAssertGreaterThanOrEqual(spent, budget, "seed \(seed)")
            XCTAssertLessThanOrEqual(spent - budget, .nanoseconds(Int64(slowest)), "seed \(seed)")
            XCTAssertLessThanOrEqual(clock.looks, count + 2, "seed \(seed)")
        }
    }
}
