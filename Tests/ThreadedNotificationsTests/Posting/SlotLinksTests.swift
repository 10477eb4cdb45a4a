import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class SlotLinksTests: XCTestCase {
    private static func slots(_ chain: SlotLinks.Chain, in links: SlotLinks) -> [Int] {
        var slots: [Int] = []
        var next = chain.first
        // A defect could turn a list into a circle.
        while let slot = next, slots.count < 100 {
            slots.append(slot)
            next = links.next(after: slot)
        }
        return slots
    }

    func testListsOfSlotsBehaveLikeArrays() throws {
        for seed in 0..<TestRounds.rounds(10, stress: 100) as Range<UInt64> { try againstArrays(seed: seed) }
    }

    private func againstArrays(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var links = SlotLinks()
        var chains = Array(repeating: SlotLinks.Chain(), count: 1 + Int(seed % 4))
        var arrays = Array(repeating: [Int](), count: chains.count)
        var free = Array(0..<24)
        for _ in 0..<300 {
            let list = Int.random(in: chains.indices, using: &random)
            if random.once(in: 2), let index = free.indices.randomElement(using: &random) {
                let slot = free.remove(at: index)
                links.append(slot, to: &chains[list])
                arrays[list].append(slot)
            } else if let index = arrays[list].indices.randomElement(using: &random) {
                let slot = arrays[list].remove(at: index)
                links.remove(slot, from: &chains[list])
                free.append(slot)
                try require(links.next(after: slot) == nil)
            }
            for (chain, array) in zip(chains, arrays) {
                try require(Self.slots(chain, in: links) == array, "seed \(seed)")
                try require(chain.first == array.first && chain.last == array.last, "seed \(seed)")
                try require(chain.isEmpty == array.isEmpty, "seed \(seed)")
            }
        }
    }

    func testThreeSlotsAreRemovedInEveryOrder() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var links = SlotLinks()
            var chain = SlotLinks.Chain()
            // Leaves gaps of unused slots.
            for slot in [7, 3, 5] { links.append(slot, to: &chain) }
            var left = [7, 3, 5]
            for slot in order.map({ [7, 3, 5][$0] }) {
                links.remove(slot, from: &chain)
                left.removeAll { $0 == slot }
                XCTAssertEqual(Self.slots(chain, in: links), left)
                XCTAssertEqual(chain.last, left.last)
            }
            XCTAssertEqual(chain, SlotLinks.Chain())
        }
    }

    func testARemovedSlotCanBeAppendedToTheSameListOrAnother() {
        var links = SlotLinks()
        var (one, other) = (SlotLinks.Chain(), SlotLinks.Chain())
        for slot in 0..<3 { links.append(slot, to: &one) }
        links.remove(0, from: &one)
        links.append(0, to: &one)
        XCTAssertEqual(Self.slots(one, in: links), [1, 2, 0])
        links.remove(2, from: &one)
        links.append(2, to: &other)
        XCTAssertEqual(Self.slots(one, in: links), [1, 0])
        XCTAssertEqual(Self.slots(other, in: links), [2])
    }
}
