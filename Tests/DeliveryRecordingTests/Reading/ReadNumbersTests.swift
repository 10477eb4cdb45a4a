import SharedTesting
import Testing

@testable import DeliveryRecording

@Suite("Which records were read")
struct ReadNumbersTests {
    @Test("the numbers agree with a set, for random orders with repetitions and gaps")
    func againstSet() {
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
                #expect(numbers.take(number) == expected)
                seen.insert(number)
                highest = max(highest, number)
            }
        }
    }

    @Test("numbers missing in more gaps than are kept are accepted later, and are not repetitions")
    func many() {
        var numbers = ReadNumbers()
        for number in stride(from: 2, through: 10_000, by: 2) { _ = numbers.take(number) }
        for number in stride(from: 9999, through: 1, by: -2) { #expect(numbers.take(number) == .late) }
    }
}
