import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The suspension buffer against rules written down with lists.
final class SuspensionModelTests: XCTestCase {
    private typealias Step = ComparedSuspension.Step

    private static let pairs = SuspensionBehavior.allCases.flatMap { first in
        SuspensionBehavior.allCases.map { [first, $0] }
    }

    func testItFollowsTheRulesInEverySequenceOfEventsForTwoRegistrations() {
        for behaviors in Self.pairs {
            for overflow in ServerLimits.HeldOverflow.allCases {
                everySequence(behaviors: behaviors, overflow: overflow)
            }
        }
    }

    private func everySequence(behaviors: [SuspensionBehavior], overflow: ServerLimits.HeldOverflow) {
        let registered = zip([1, 2], behaviors).map(MatchingObserver.init)
        let start = ComparedSuspension(entryLimit: 2, overflow: overflow, registered: registered)
        var steps: [Step] = []
        var count = 0
        let depth = TestRounds.rounds(3, stress: 5)
        if let difference = Self.difference(from: start, depth: depth, &steps, &count) {
            XCTFail("\(behaviors), \(overflow): \(difference), after \(steps)")
        } else {
            XCTAssertEqual(count, TestRounds.rounds(729, stress: 59_049))
        }
    }

    /// Takes every sequence of so many steps from here, and resumes after each.
    private static func difference(
        from start: ComparedSuspension, depth: Int, _ steps: inout [Step], _ count: inout Int
    ) -> String? {
        if depth == 0 {
            count += 1
            var end = start
            return end.setSuspended(false)
        }
        for step in Step.allCases {
            steps.append(step)
            var next = start
            if let difference = next.take(step) { return difference }
            if let difference = difference(from: next, depth: depth - 1, &steps, &count) { return difference }
            steps.removeLast()
        }
        return nil
    }

    func testItFollowsTheRulesInLongRandomSequencesWithByteLimits() {
        for part in 0..<8 as Range<UInt64> { randomSequences(part: part) }
    }

    private func randomSequences(part: UInt64) {
        for seed in part * 1000..<part * 1000 + UInt64(FaultRounds.comparisons / 3) {
            guard let difference = Self.difference(seed: seed, length: 150) else { continue }
            XCTFail("seed \(seed): \(difference)")
            return
        }
    }

    /// - Returns: where the two first differ, and how.
    private static func difference(seed: UInt64, length: Int) -> String? {
        var random = SeededGenerator(seed: seed)
        var registered: [MatchingObserver] = []
        let behaviors: [SuspensionBehavior] =
            random.once(in: 4) ? SuspensionBehavior.allCases : [.drop, .coalesce, .hold]
        var compared = ComparedSuspension(
            entryLimit: [0, 1, 3, 8, 100].randomElement(using: &random) ?? 0,
            byteLimit: [100, 500, 2000, 10_000].randomElement(using: &random) ?? 0,
            overflow: random.once(in: 3) ? .deliver : .discardOldest, registered: [])
        for number in 1...UInt32(length) {
            let difference: String?
            switch Int.random(in: 0..<20, using: &random) {
            case 0: difference = compared.setSuspended(false)
            case 1, 2: difference = compared.setSuspended(true)
            case 3:
                let leaving = registered.randomElement(using: &random)?.registration ?? number
                registered.removeAll { $0.registration == leaving }
                difference = compared.unregister(leaving)
            case 4, 5, 6:
                let behavior = behaviors.randomElement(using: &random) ?? .hold
                registered.append(MatchingObserver(registration: number, behavior: behavior))
                difference = nil
            default:
                let few = Int.random(in: 1...3, using: &random)
                difference = compared.post(
                    "ABCD".randomElement(using: &random) ?? "A", to: registered.filter { _ in random.once(in: few) },
                    immediately: random.once(in: 60), byteCount: Int.random(in: 0...200, using: &random),
                    spareBytes: random.once(in: 4) ? Int.random(in: -100...300, using: &random) : 1 << 20)
            }
            if let difference { return "step \(number): \(difference)" }
        }
        return compared.setSuspended(false)
    }
}
