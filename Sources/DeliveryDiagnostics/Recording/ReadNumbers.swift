/// Which records of a process were read, by their numbers: a pure value.
struct ReadNumbers {
    enum Place: Hashable {
        case next
        /// So many are missing before it.
        case after(missing: Int)
        /// It was missing.
        case late
        case repeated
    }

    /// The number of the record that should come next; negative: whichever comes.
    var next = 1
    /// What was passed over, in ascending order.
    private var missing: [Range<Int>] = []

    private static let mostRanges = 1000

    mutating func take(_ number: Int) -> Place {
        if next < 0 || number == next {
            next = number &+ 1
            return .next
        }
        if number > next {
            defer { next = number &+ 1 }
            if missing.count < Self.mostRanges { missing.append(next..<number) }
            return .after(missing: number - next)
        }
        guard let index = missing.lastIndex(where: { $0.contains(number) }) else { return .repeated }
        let range = missing[index]
        missing.replaceSubrange(
            index...index, with: [range.lowerBound..<number, number + 1..<range.upperBound].filter { !$0.isEmpty })
        return .late
    }
}
