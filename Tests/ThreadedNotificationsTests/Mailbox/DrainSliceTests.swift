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
        slice.begins(at: clock.look())
        while count < atMost, slice.allowsAnother(at: clock.look()) {
            clock.now += cost(count)
            count += 1
        }
        return (count, clock)
    }

    func testAnUnboundedBudgetAllowsAllAndNeverReadsTheClock() {
        let (count, clock) = deliver(.unbounded, atMost: 100_000) { _ in 1_000_000 }
        XCTAssertEqual(count, 100_000)
        XCTAssertEqual(clock.looks, 0)
    }

    func testABudgetOfDeliveriesAllowsThemAndNeverReadsTheClock() {
        for limit in [1, 2, 16, 1000] {
            let (count, clock) = deliver(.deliveries(limit)) { _ in 1_000_000 }
            XCTAssertEqual(count, limit)
            XCTAssertEqual(clock.looks, 0)
        }
    }

    func testTheFirstDeliveryIsAlwaysAllowed() {
        for time in [Duration.zero, .seconds(-1), .nanoseconds(1)] {
            XCTAssertEqual(deliver(.time(time)) { _ in 5 }.count, 1)
        }
    }

    func testSlowDeliveriesAreCheckedOneByOne() {
        // 1 ms each: the eighth delivery begins within 8 ms, and the ninth does not.
        let (count, clock) = deliver(.time(.milliseconds(8))) { _ in 1_000_000 }
        XCTAssertEqual(count, 8)
        XCTAssertEqual(clock.looks, 9)
    }

    func testASpentTimeIsNotExceededByMoreThanTheDeliveriesBetweenTwoLooks() {
        for seed in 0..<TestRounds.rounds(20, stress: 200) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let slowest = UInt64.random(in: 1...2_000_000, using: &random)
            let budget = Duration.microseconds(Int.random(in: 1...10_000, using: &random))
            let (count, clock) = deliver(.time(budget)) { _ in UInt64.random(in: 1...slowest, using: &random) }
            let spent = Duration.nanoseconds(Int64(clock.now - 1))
            XCTAssertGreaterThanOrEqual(spent, budget, "seed \(seed)")
            XCTAssertLessThanOrEqual(spent - budget, .nanoseconds(Int64(16 * slowest)), "seed \(seed)")
            XCTAssertLessThanOrEqual(clock.looks, count + 2, "seed \(seed)")
        }
    }

    func testABudgetOfBothIsSpentWhenOneIs() {
        let both = DrainBudget(deliveries: 100, time: .milliseconds(8))
        XCTAssertEqual(deliver(both) { _ in 100 }.count, 100)
        XCTAssertEqual(deliver(both) { _ in 1_000_000 }.count, 8)
    }
}
