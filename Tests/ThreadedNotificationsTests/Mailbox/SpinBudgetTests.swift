import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class SpinBudgetTests: XCTestCase {
    func testTheTimeSpentIsAtMostTheSumThatFindsAndWakeUpsEarnedAndOneLook() {
        for seed in 0..<TestRounds.rounds(5, stress: 50) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var budget = SpinBudget()
            var (spent, found, woken) = (0, 0, 0)
            // Some threads often find an entry, and some rarely.
            let oneIn = Int.random(in: 1...30, using: &random)
            for _ in 0..<2_000 {
                guard let limit = budget.limit else {
                    budget.woken()
                    woken += 1
                    continue
                }
                XCTAssertLessThanOrEqual(limit, SpinBudget.longest)
                let time = Int.random(in: 0...limit, using: &random)
                spent += time
                if random.once(in: oneIn) {
                    budget.found(after: time)
                    found += 1
                } else {
                    budget.foundNothing(after: time)
                }
                let allowed = SpinBudget.atFirst + found * SpinBudget.saved + woken * SpinBudget.forBeingWoken
                XCTAssertLessThanOrEqual(spent, allowed)
                XCTAssertTrue(budget.credit >= 0 && budget.credit <= SpinBudget.most)
            }
            XCTAssertGreaterThan(spent, 0)
        }
    }

    func testAThreadThatFindsNothingLooksOnceIn200WakeUps() {
        var budget = SpinBudget()
        var looks = 0
        for _ in 0..<20_000 {
            budget.woken()
            guard let limit = budget.limit else { continue }
            budget.foundNothing(after: limit)
            looks += 1
        }
        XCTAssertTrue((90...110).contains(looks))
    }

    func testAThreadThatFindsEntriesAtOnceKeepsLookingAlsoAfterNineLooksThatFoundNothing() {
        var budget = SpinBudget()
        for _ in 0..<1_000 {
            XCTAssertNotNil(budget.limit)
            budget.found(after: 1_000)
        }
        for _ in 0..<9 { budget.foundNothing(after: SpinBudget.longest) }
        XCTAssertEqual(budget.limit, SpinBudget.longest)
        budget.foundNothing(after: SpinBudget.longest)
        XCTAssertNil(budget.limit)
    }

    func testAThreadWhoseFirstFindTakesLongKeepsLooking() {
        var budget = SpinBudget()
        budget.found(after: 30_000)
        XCTAssertEqual(budget.limit, 80_000)
        for _ in 0..<10 { budget.found(after: 1_000) }
        XCTAssertEqual(budget.limit, SpinBudget.longest)
    }

    func testAThreadStopsLookingIfFindsTakeMoreTimeThanTheySave() {
        var budget = SpinBudget()
        var looks = 0
        while let limit = budget.limit, looks < 1_000 {
            if limit >= 30_000 { budget.found(after: 30_000) } else { budget.foundNothing(after: limit) }
            looks += 1
        }
        XCTAssertLessThan(looks, 10)
    }
}
