import SharedTesting
import XCTest

@testable import DeliveryRecording

final class ReadNumbersTests: XCTestCase {
    func testTheNumbersAgreeWithASetForRandomOrdersWithRepetitionsAndGaps() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            var numbers = ReadNumbers()
            var (seen, highest): (Set<Int>, Int) = ([], 0)
            for _ in 0..<100 {
                let number = Int.random(in: 1...60, using: &generator)
                let expected: ReadNumbers.Place =
                    seen.contains(number)
                    ? .repeated
                    : number == highest + 1 ? .next : number > highest ? .after(missing: number - highest - 1) : .late
                XCTAssertEqual(numbers.take(number), expected)
                seen.insert(number)
                highest = max(highest, number)
            }
        }
    }

    func testNumbersMissingInMoreGapsThanAreKeptAreAcceptedLaterAndAreNotRepetitions() {
        var numbers = ReadNumbers()
        for number in stride(from: 2, through: 10_000, by: 2) { _ = numbers.take(number) }
        for number in stride(from: 9999, through: 1, by: -2) { XCTAssertEqual(numbers.take(number), .late) }
    }
}
