import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

final class CoalescingBufferTests: XCTestCase {
    private typealias Buffer = CoalescingBuffer<Int>

    // MARK: Against a plain array

    func testItBehavesLikeAPlainArrayInRandomSequences() {
        for seed in 0..<TestRounds.rounds(1_000, stress: 100_000) as Range<UInt64> {
            let steps = 4 + Int(seed % 16)
            // Checking all after each step is slow, so most sequences are checked at the end only, and again if that
            // fails.
            guard let difference = compare(seed: seed, steps: steps, thorough: seed % 50 == 0) else { continue }
            XCTFail("\(compare(seed: seed, steps: steps, thorough: true) ?? difference)")
            return
        }
    }

    func testItBehavesLikeAPlainArrayInLongerSequences() {
        for seed in 0..<TestRounds.rounds(10, stress: 80) as Range<UInt64> {
            guard let difference = compare(seed: 1_000_000 + seed, steps: 200, thorough: false) else { continue }
            XCTFail("\(difference)")
            return
        }
    }

    /// - Returns: the difference and the steps that led to it, or nil.
    private func compare(seed: UInt64, steps: Int, thorough: Bool) -> String? {
        var vocabulary = BufferVocabulary(SeededGenerator(seed: seed))
        var buffer = ComparedBuffer()
        var taken: [ComparedBuffer.Step] = []
        do throws(ComparedBuffer.Difference) {
            for _ in 0..<steps {
                let step = vocabulary.step()
                taken.append(step)
                try buffer.take(step)
                if thorough { try buffer.check() }
            }
            if seed % 2 == 0 { try buffer.empty() } else { try buffer.take(.removeAll) }
            return nil
        } catch {
            let prefix = taken.map { "  \($0)" }.joined(separator: "\n")
            return "seed \(seed): \(error.what), after\n\(prefix)"
        }
    }

    // MARK: Masks

    private func key(_ name: String, _ sender: UInt64) -> Buffer.Key {
        Buffer.Key(queue: 1, name: Notification.Name(name), sender: .value(sender))
    }

    // MARK: Cost

    func testTheCostOfACallDoesNotDependOnTheNumberOfItems() {
        // If any call searched all items, this test would take minutes.
        let count = TestRounds.rounds(5_000, stress: 40_000)
        let names = (0..<count).map { Notification.Name("\($0)") }
        func key(_ number: Int) -> Buffer.Key {
            Buffer.Key(queue: 1, name: names[number], sender: .value(UInt64(number)))
        }
        var buffer = Buffer()
        for number in 0..<count {
            _ = buffer.enqueue(number, key(number), style: .whenIdle, modeQueue: 0, mask: [], keepsEarliest: false)
        }
        var isAsExpected = true
        for number in (0..<count).reversed() {
            // The last item and one in the middle.
            let (last, middle) = (key(number), key(number / 2))
            let mask = ComparedBuffer.masks[1 + number % 3]
            let latest = buffer.enqueue(number, last, style: .asap, modeQueue: 1, mask: mask, keepsEarliest: false)
            let earliest = buffer.enqueue(-1, middle, style: .asap, modeQueue: 1, mask: mask, keepsEarliest: true)
            let dequeued = buffer.dequeue(matching: last, mask)
            let again = buffer.enqueue(number, last, style: .whenIdle, modeQueue: 0, mask: mask, keepsEarliest: false)
            isAsExpected =
                isAsExpected && latest.coalesced == [number] && earliest.coalesced == [-1] && dequeued == [number]
                && again.coalesced == [] && buffer.count == count && !buffer.isEmpty(.whenIdle, modeQueues: [0])
        }
        // Each item was moved to the end of its style, from the last to the first.
        for number in (0..<count).reversed() {
            let first = buffer.takeFirst(.whenIdle, modeQueues: [0, 1])
            isAsExpected = isAsExpected && first == number
        }
        XCTAssertTrue(isAsExpected)
        XCTAssertTrue(buffer.isEmpty)
    }

    func testTheStorageOfABurstIsReleasedHoweverTheBurstEnds() {
        for end in ["taken", "dequeued", "coalesced", "removed"] {
            var buffer = Buffer()
            // The storage of a smaller burst is kept.
            let count = 4_200
            for burst in 0..<2 {
                for number in 0..<count {
                    let key = Buffer.Key(
                        queue: 1, name: Notification.Name("\(number % 7)"), sender: .value(UInt64(number)))
                    _ = buffer.enqueue(number, key, style: .asap, modeQueue: number % 3, mask: [], keepsEarliest: false)
                }
                if end == "taken", burst == 0 { XCTAssertGreaterThan(storedElements(of: buffer), count) }
                let next = buffer.nextSequenceNumber
                XCTAssertGreaterThan(next, UInt64(count * (burst + 1)))
                switch end {
                case "taken":
                    while buffer.takeFirst(.asap, modeQueues: [0, 1, 2]) != nil {}
                case "dequeued":
                    for name in 0..<7 { _ = dequeue(name: name, from: &buffer) }
                case "coalesced":
                    for name in 0..<7 {
                        let key = Buffer.Key(queue: 1, name: Notification.Name("\(name)"), sender: .none)
                        _ = buffer.enqueue(
                            -1, key, style: .now, modeQueue: 0, mask: .onName, keepsEarliest: name % 2 == 0)
                    }
                    XCTAssertEqual(buffer.count, 7)
                    for name in 0..<7 { XCTAssertEqual(dequeue(name: name, from: &buffer), 1) }
                default:
                    XCTAssertEqual(buffer.removeAll(), Array(0..<count))
                }
                XCTAssertTrue(buffer.isEmpty)
                XCTAssertEqual(storedElements(of: buffer), 0)
                XCTAssertGreaterThanOrEqual(buffer.nextSequenceNumber, next)
            }
        }
    }

    private func dequeue(name: Int, from buffer: inout Buffer) -> Int {
        let key = Buffer.Key(queue: 1, name: Notification.Name("\(name)"), sender: .none)
        return buffer.dequeue(matching: key, .onName).count
    }

    func testStorageIsProportionalToTheItemsThatWaitAtATime() {
        var buffer = Buffer()
        for number in 0..<1_000 {
            let key = Buffer.Key(
                queue: UInt64(number), name: Notification.Name("\(number)"), sender: .value(UInt64(number)))
            let mask = ComparedBuffer.masks[number % 4]
            _ = buffer.enqueue(
                number, key, style: .asap, modeQueue: number % 3, mask: mask, keepsEarliest: number % 5 == 0)
            guard number >= 3 else { continue }
            let first = buffer.takeFirst(.asap, modeQueues: [0, 1, 2])
            XCTAssertEqual(first, number - 3)
        }
        XCTAssertEqual(buffer.count, 3)
        XCTAssertLessThan(storedElements(of: buffer), 200)
    }
}
