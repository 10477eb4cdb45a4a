import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The rules of suspension, in `Suspension` and in `NaiveSuspension`, which take the same steps.
final class SuspensionTests: XCTestCase {
    private struct Compared {
        private var suspension: Suspension
        private var model: NaiveSuspension
        private var posts = 0
        /// How the two first differ.
        private(set) var difference: String?

        init(_ limits: ServerLimits) {
            suspension = Suspension(limits)
            model = NaiveSuspension(limits)
        }

        mutating func setSuspended(_ flag: Bool) -> SuspensionOutcome {
            compared(suspension.setSuspended(flag), with: model.setSuspended(flag))
        }

        mutating func unregister(_ registration: UInt32) {
            suspension.unregister(registration)
            model.unregister(registration)
            _ = compared(Suspension.Delivery(), with: SuspensionOutcome())
        }

        mutating func post(
            _ key: Character = "A", to observers: [MatchingObserver], immediately: Bool = false, byteCount: Int = 1,
            spareBytes: Int = 1 << 20
        ) -> SuspensionOutcome {
            posts += 1
            let name = Array(String(key).utf8).withUnsafeBytes { NameAndObject(name: $0) }
            let post = HeldPost(key: name, sender: Int32(posts), payload: [UInt8](repeating: 0, count: byteCount))
            let delivery = suspension.decide(
                post, observers: observers, immediately: immediately, spareBytes: spareBytes)
            let expected = model.decide(
                posts, key, byteCount: byteCount, observers: observers, immediately: immediately, spareBytes: spareBytes
            )
            return compared(delivery, with: expected)
        }

        var counts: NotificationCounts { suspension.counts }

        private mutating func compared(_ delivery: Suspension.Delivery, with expected: SuspensionOutcome)
            -> SuspensionOutcome
        {
            var outcome = SuspensionOutcome(gap: delivery.gap)
            outcome.deliveries = delivery.entries.map {
                .init(post: Int($0.post.sender), registrations: $0.observers.map(\.registration))
            }
            if !delivery.observers.isEmpty {
                outcome.deliveries.append(.init(post: posts, registrations: delivery.observers.map(\.registration)))
            }
            if outcome != expected { difference = difference ?? "\(outcome), not \(expected)" }
            if suspension.isSuspended != model.isSuspended || suspension.entryCount != model.entryCount
                || suspension.byteCount != model.byteCount || suspension.counts != model.counts
            {
                difference = difference ?? "\(suspension), not \(model)"
            }
            return outcome
        }
    }

    private static let coalescing = MatchingObserver(registration: 1, behavior: .coalesce)
    private static let holding = MatchingObserver(registration: 2, behavior: .hold)
    private static let dropping = MatchingObserver(registration: 3, behavior: .drop)
    private static let urgent = MatchingObserver(registration: 4, behavior: .deliverImmediately)

    private static func limits(
        entries: Int = 3, bytes: Int = 2000, _ overflow: ServerLimits.HeldOverflow = .discardOldest
    ) -> ServerLimits {
        var limits = ServerLimits()
        (limits.heldEntriesPerClient, limits.heldBytesPerClient, limits.heldOverflow) = (entries, bytes, overflow)
        return limits
    }

    private var suspended: Compared = {
        var compared = Compared(limits())
        _ = compared.setSuspended(true)
        return compared
    }()

    override func tearDown() {
        XCTAssertNil(suspended.difference)
    }

    // MARK: The table, and R1 to R6

    func testEachBehaviorFollowsTheTable() {
        // Posts 1 and 2 are held, for an observer that holds and for the one in question, if it keeps any.
        for (observer, normally, immediately) in [
            (Self.dropping, " | 1→[2]", "1→[2] 3→[3] | "),
            (Self.coalescing, " | 1→[2] 3→[1]", "1→[2] 2→[1] 3→[1] | "),
            (Self.holding, " | 1→[2] 2→[2] 3→[2]", "1→[2] 2→[2] 3→[2] | "),
            (Self.urgent, "1→[2] 2→[4] 3→[4] | ", "1→[2] 2→[4] 3→[4] | "),
        ] {
            for (isImmediate, expected) in [(false, normally), (true, immediately)] {
                var suspended = suspended
                var outcomes = [suspended.post(to: [Self.holding]), suspended.post(to: [observer])]
                outcomes.append(suspended.post(to: [observer], immediately: isImmediate))
                let sent = outcomes.map(\.description).filter { !$0.isEmpty }.joined(separator: " ")
                XCTAssertEqual("\(sent) | \(suspended.setSuspended(false))", expected, "\(observer) \(isImmediate)")
                XCTAssertEqual(suspended.post(to: [observer]).description, "4→[\(observer.registration)]")
            }
        }
    }

    func testR1R2R3HeldPostsComeInTheirOrderAtOneResumptionAndAnImmediateDeliveryIsNone() {
        _ = suspended.setSuspended(true)
        _ = suspended.post("A", to: [Self.holding])
        XCTAssertEqual(suspended.post("B", to: [Self.coalescing], immediately: true).description, "1→[2] 2→[1]")
        _ = suspended.post("B", to: [Self.coalescing])
        _ = suspended.post("A", to: [Self.holding])
        XCTAssertEqual(suspended.setSuspended(false).description, "3→[1] 4→[2]")
    }

    func testR4APostForSeveralObserversIsOneEntryAndIsDeliveredAtOnceToAllButDropIfOneRequiresIt() {
        _ = suspended.post(to: [Self.coalescing, Self.holding, Self.dropping])
        let outcome = suspended.post(to: [Self.coalescing, Self.dropping, Self.urgent])
        XCTAssertEqual(outcome.description, "1→[1, 2] 2→[1, 4]")
    }

    func testR5ARemovedObserverGetsNoHeldPostAndNoGap() {
        for post in [[Self.holding], [Self.coalescing, Self.holding]] { _ = suspended.post(to: post) }
        _ = suspended.post(to: [Self.holding], byteCount: 3000)
        suspended.unregister(Self.holding.registration)
        XCTAssertEqual(suspended.setSuspended(false).description, "2→[1]")
        XCTAssertEqual(suspended.counts, NotificationCounts(discarded: 1, removed: 1))
    }

    func testD1CoalescingKeepsTheLastOfEachNameAndObjectWithoutAGap() {
        for (key, observers) in [
            ("A", [Self.coalescing]), ("B", [Self.coalescing, Self.holding]), ("A", [Self.coalescing]),
            ("B", [Self.coalescing]), ("C", [Self.dropping]),
        ] as [(Character, [MatchingObserver])] { _ = suspended.post(key, to: observers) }
        XCTAssertEqual(suspended.setSuspended(false).description, "2→[2] 3→[1] 4→[1]")
        XCTAssertEqual(suspended.counts, NotificationCounts(coalesced: 1, suppressed: 1))
    }

    // MARK: D2

    func testAtALimitTheOldestAreDiscardedAndTheNextFlushShowsTheGapOnce() {
        for _ in 1...5 { _ = suspended.post(to: [Self.holding]) }
        XCTAssertEqual(suspended.setSuspended(false).description, "gap of 2 2:2; 3→[2] 4→[2] 5→[2]")
        _ = suspended.setSuspended(true)
        for _ in 6...7 { _ = suspended.post(to: [Self.holding], byteCount: 900) }
        _ = suspended.post(to: [Self.holding], byteCount: 300, spareBytes: 0)
        XCTAssertEqual(suspended.setSuspended(false).description, "gap of 1 2:1; 7→[2] 8→[2]")
        XCTAssertTrue(suspended.setSuspended(false).gap.isEmpty)
    }

    func testAPostThatExceedsALimitAloneIsTheOnlyOneDiscarded() {
        _ = suspended.post(to: [Self.coalescing])
        _ = suspended.post(to: [Self.coalescing], byteCount: 3000)
        _ = suspended.post(to: [Self.coalescing], byteCount: 2, spareBytes: 0)
        XCTAssertEqual(suspended.setSuspended(false).description, "gap of 2 1:2; 1→[1]")
    }

    func testWithThePolicyToDeliverAFullQueueIsFlushedAndTheNewPostIsHeld() {
        suspended = Compared(Self.limits(entries: 2, .deliver))
        _ = suspended.setSuspended(true)
        for _ in 1...2 { _ = suspended.post(to: [Self.holding]) }
        XCTAssertEqual(suspended.post(to: [Self.holding]).description, "1→[2] 2→[2]")
        XCTAssertEqual(suspended.post(to: [Self.holding], byteCount: 3000).description, "3→[2] 4→[2]")
    }

    // MARK: Traces

    func testItAgreesWithTheModelInEverySequenceForTwoObservers() {
        for behaviors in SuspensionBehavior.allCases.flatMap({ one in SuspensionBehavior.allCases.map { [one, $0] } }) {
            for overflow in ServerLimits.HeldOverflow.allCases {
                let registered = zip([1, 2], behaviors).map(MatchingObserver.init)
                let start = Compared(Self.limits(entries: 2, bytes: 1 << 20, overflow))
                let depth = TestRounds.rounds(3, stress: 5)
                guard let difference = Self.difference(from: start, registered, depth: depth) else { continue }
                return XCTFail("\(behaviors), \(overflow): \(difference)")
            }
        }
    }

    /// Takes every sequence of so many steps from here, and resumes after each.
    private static func difference(from start: Compared, _ registered: [MatchingObserver], depth: Int) -> String? {
        for step in 0..<9 {
            var (next, registered) = (start, registered)
            switch step {
            case 0, 1: _ = next.setSuspended(step == 0)
            case 2, 3, 4: _ = next.post(step == 2 ? "A" : "B", to: registered, immediately: step == 4)
            case 5, 6: _ = next.post(step == 5 ? "C" : "D", to: registered.filter { $0.registration == step - 4 })
            default:
                registered.removeAll { $0.registration == step - 6 }
                next.unregister(UInt32(step - 6))
            }
            if depth == 1 { _ = next.setSuspended(false) }
            if let difference = next.difference { return "step \(step): \(difference)" }
            guard depth > 1, let difference = difference(from: next, registered, depth: depth - 1) else { continue }
            return "step \(step), \(difference)"
        }
        return nil
    }

    func testItAgreesWithTheModelInRandomSequencesWithByteLimits() {
        for seed in 0..<UInt64(FaultRounds.comparisons * 3) {
            guard let difference = Self.randomDifference(seed: seed) else { continue }
            return XCTFail("seed \(seed): \(difference)")
        }
    }

    private static func randomDifference(seed: UInt64) -> String? {
        var random = SeededGenerator(seed: seed)
        var registered: [MatchingObserver] = []
        let behaviors = random.once(in: 4) ? SuspensionBehavior.allCases : [.drop, .coalesce, .hold]
        var compared = Compared(
            limits(
                entries: [0, 1, 3, 8, 100].randomElement(using: &random)!,
                bytes: [100, 500, 2000, 10_000].randomElement(using: &random)!,
                random.once(in: 3) ? .deliver : .discardOldest))
        for number in 1...150 as ClosedRange<UInt32> {
            switch Int.random(in: 0..<20, using: &random) {
            case 0...2: _ = compared.setSuspended(!random.once(in: 3))
            case 3:
                let leaving = registered.randomElement(using: &random)?.registration ?? number
                registered.removeAll { $0.registration == leaving }
                compared.unregister(leaving)
            case 4...6:
                let behavior = behaviors.randomElement(using: &random)!
                registered.append(MatchingObserver(registration: number, behavior: behavior))
            default:
                // The same observers match the same name each time, as in the table of observers.
                let bit = UInt32.random(in: 0..<4, using: &random)
                _ = compared.post(
                    ["A", "B", "C", "D"][Int(bit)], to: registered.filter { $0.registration >> bit & 1 == 1 },
                    immediately: random.once(in: 60), byteCount: Int.random(in: 0...200, using: &random),
                    spareBytes: random.once(in: 4) ? Int.random(in: -100...300, using: &random) : 1 << 20)
            }
            if let difference = compared.difference { return "step \(number): \(difference)" }
        }
        _ = compared.setSuspended(false)
        return compared.difference
    }
}
