import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// What a buffer costs. `RandomRunLoopTests` shows what it does.
final class CoalescingBufferTests: XCTestCase {
    private typealias Buffer = CoalescingBuffer<Int>

    private static let masks: [Buffer.Mask] = [[], .onName, .onSender, [.onName, .onSender]]

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
            let mask = Self.masks[1 + number % 3]
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
}
