import SharedTesting
import Testing

@testable import ThreadedNotifications

@Suite("SpinBudget")
struct SpinBudgetTests {
    @Test(
        "the time spent is at most the sum that finds and wake-ups earned, and one look",
        arguments: 0..<50 as Range<UInt64>)
    func bound(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var budget = SpinBudget()
        var (spent, found, woken) = (0, 0, 0)
        // Some threads often find an entry, and some rarely.
        let oneIn = Int.random(in: 1...30, using: &random)
        for _ in 0..<20_000 {
            guard let limit = budget.limit else {
                budget.woken()
                woken += 1
                continue
            }
            #expect(limit <= SpinBudget.longest)
            let time = Int.random(in: 0...limit, using: &random)
            spent += time
            if random.once(in: oneIn) {
                budget.found(after: time)
                found += 1
            } else {
                budget.foundNothing(after: time)
            }
            let allowed = SpinBudget.atFirst + found * SpinBudget.saved + woken * SpinBudget.forBeingWoken
            #expect(spent <= allowed)
            #expect(budget.credit >= 0 && budget.credit <= SpinBudget.most)
        }
        #expect(spent > 0)
    }

    @Test("a thread that finds nothing looks once in 200 wake-ups")
    func findsNothing() {
        var budget = SpinBudget()
        var looks = 0
        for _ in 0..<20_000 {
            budget.woken()
            guard let limit = budget.limit else { continue }
            budget.foundNothing(after: limit)
            looks += 1
        }
        #expect((90...110).contains(looks))
    }

    @Test("a thread that finds entries at once keeps looking, also after nine looks that found nothing")
    func findsAtOnce() {
        var budget = SpinBudget()
        for _ in 0..<1_000 {
            #expect(budget.limit != nil)
            budget.found(after: 1_000)
        }
        for _ in 0..<9 { budget.foundNothing(after: SpinBudget.longest) }
        #expect(budget.limit == SpinBudget.longest)
        budget.foundNothing(after: SpinBudget.longest)
        #expect(budget.limit == nil)
    }

    @Test("a thread whose first find takes long keeps looking")
    func findsLateOnce() {
        var budget = SpinBudget()
        budget.found(after: 30_000)
        #expect(budget.limit == 80_000)
        for _ in 0..<10 { budget.found(after: 1_000) }
        #expect(budget.limit == SpinBudget.longest)
    }

    @Test("a thread stops looking if finds take more time than they save")
    func findsLate() {
        var budget = SpinBudget()
        var looks = 0
        while let limit = budget.limit, looks < 1_000 {
            if limit >= 30_000 { budget.found(after: 30_000) } else { budget.foundNothing(after: limit) }
            looks += 1
        }
        #expect(looks < 10)
    }
}
