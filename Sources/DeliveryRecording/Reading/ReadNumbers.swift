/// The numbers of the records of a process that were read. A pure value.
struct ReadNumbers {
    enum Place: Hashable {
        case next
        /// This many records are missing before it.
        case after(missing: Int)
        /// It was missing until now.
        case late
        case repeated
    }

    /// The expected number of the next record; negative if any number is accepted.
    var next = 1
    /// The missing numbers, in ascending order.
    private var missing: [Range<Int>] = []
    /// True if there are more missing ranges than are kept. Then a late record counts as missing, not as repeated.
    private var isForgetful = false

    private static let mostRanges = 1000

    mutating func take(_ number: Int) -> Place {
        if next < 0 || number == next {
            next = number &+ 1
            return .next
        }
        if number > next {
            defer { next = number &+ 1 }
            if missing.count < Self.mostRanges { missing.append(next..<number) } else { isForgetful = true }
            return .after(missing: number - next)
        }
        let index = missing.partition(upTo: number)
        guard index < missing.count, missing[index].contains(number) else { return isForgetful ? .late : .repeated }
        let range = missing[index]
        var rest = [range.lowerBound..<number, number + 1..<range.upperBound].filter { !$0.isEmpty }
        if rest.count == 2, missing.count >= Self.mostRanges {
            rest.removeFirst()
            isForgetful = true
        }
        missing.replaceSubrange(index...index, with: rest)
        return .late
    }
}

extension [Range<Int>] {
    /// The index of the first range that ends after a number, by bisection.
    fileprivate func partition(upTo number: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
